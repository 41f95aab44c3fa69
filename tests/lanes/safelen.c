// Iterations that may not run together.
static int a[60];
int main(void) {
#ifdef RACY
#pragma omp simd safelen(8)
#else
#pragma omp simd safelen(6)
#endif
    for (int i = 6; i < 60; i++)
        a[i] = a[i - 6]; // RACE!
    return a[2];
}
