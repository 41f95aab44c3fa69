// One thread initialises.
static int x, a[8];
int main(void) {
#pragma omp parallel
    {
#ifdef RACY
#pragma omp single nowait
#else
#pragma omp single
#endif
        x = 1; // RACE!
#pragma omp for
        for (int i = 0; i < 8; i++)
            a[i] = x; // RACE!
    }
    return 0;
}
