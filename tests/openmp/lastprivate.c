// The value of the last iteration is kept, where the loop says so.
enum { N = 4 };

int main(void) {
    int last = 0, seen = 0;
#pragma omp parallel reduction(+ : seen)
    {
#ifdef RACY
#pragma omp for
#else
#pragma omp for lastprivate(last)
#endif
        for (int i = 0; i < N; i++)
            last = i; // RACE!
        seen += last;
    }
    return seen == 9;
}
