// Two loops after another.
static int a[60], b[60];
int main(void) {
#pragma omp parallel
    {
#ifdef RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
        for (int i = 0; i < 60; i++)
            a[i] = i; // RACE!
#pragma omp for
        for (int i = 0; i < 60; i++)
            b[i] = a[59 - i]; // RACE!
    }
    return 0;
}
