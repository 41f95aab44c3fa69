// A reduction of an array.
enum { N = 6, VALUES = 2 };

int main(void) {
    int count[VALUES] = {0};
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(+ : count[:VALUES])
#endif
    for (int i = 0; i < N; i++)
        count[i % VALUES]++; // RACE!
    return count[0] == 99;
}
