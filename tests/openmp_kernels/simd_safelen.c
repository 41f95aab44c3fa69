// Lanes that are far enough apart.
static int a[48];
int main(void) {
#ifdef RACY
#pragma omp simd safelen(8)
#else
#pragma omp simd safelen(4)
#endif
    for (int i = 4; i < 48; i++)
        a[i] = a[i - 4]; // RACE!
    return 0;
}
