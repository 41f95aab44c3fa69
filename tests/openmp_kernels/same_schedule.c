// Two loops with the same static schedule: a thread reads its own elements without a barrier. Not so if chunks differ.
enum { N = 8 };
static int a[N], b[N];

int main(void) {
#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int i = 0; i < N; i++)
            a[i] = i; // RACE!
#ifdef RACY
#pragma omp for schedule(static, 1)
#else
#pragma omp for schedule(static)
#endif
        for (int i = 0; i < N; i++)
            b[i] = a[i]; // RACE!
    }
    return b[0] == 9;
}
