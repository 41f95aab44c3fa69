// Rounds over two arrays.
static double a[34], b[34];
int main(void) {
#pragma omp parallel
    for (int round = 0; round < 3; round++) {
#ifdef RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
        for (int i = 1; i < 33; i++)
            b[i] = (a[i - 1] + a[i + 1]) / 2; // RACE!
#pragma omp for
        for (int i = 1; i < 33; i++)
            a[i] = b[i]; // RACE!
    }
    return 0;
}
