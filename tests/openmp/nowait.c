// A loop without its barrier may be left while other threads are still in it.
enum { N = 4 };

int main(void) {
    int a[N], b[N];
#pragma omp parallel
    {
#ifdef RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
        for (int i = 0; i < N; i++)
            a[i] = i; // RACE!
#pragma omp for
        for (int i = 0; i < N; i++)
            b[i] = a[N - 1 - i]; // RACE!
    }
    return b[0] == 9;
}
