// A second loop reads what the first one wrote for other iterations: without a barrier between them, too early.
enum { N = 6 };
static int a[N], b[N];

int main(void) {
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
