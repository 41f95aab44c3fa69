// Elements are counted by value.
enum { N = 12, VALUES = 3 };

int main(void) {
    int a[N], count[VALUES] = {0};
    for (int i = 0; i < N; i++)
        a[i] = i % VALUES;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
#ifdef RACY
        count[a[i]]++; // RACE!
#else
    {
#pragma omp atomic
        count[a[i]]++;
    }
#endif
    return count[0] == 9;
}
