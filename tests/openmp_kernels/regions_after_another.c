// Two regions.
static int a[60], b[60];
int main(void) {
#ifdef RACY
#pragma omp parallel
    {
#pragma omp for nowait
        for (int i = 0; i < 60; i++)
            a[i] = i; // RACE!
#pragma omp for
        for (int i = 1; i < 60; i++)
            b[i] = a[i - 1]; // RACE!
    }
#else
#pragma omp parallel for
    for (int i = 0; i < 60; i++)
        a[i] = i;
#pragma omp parallel for
    for (int i = 1; i < 60; i++)
        b[i] = a[i - 1];
#endif
    return 0;
}
