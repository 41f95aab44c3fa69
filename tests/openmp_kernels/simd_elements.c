// A loop in lanes.
static int a[40], b[40];
int main(void) {
#pragma omp simd
    for (int i = 1; i < 40; i++)
#ifdef RACY
        a[i] = a[i - 1]; // RACE!
#else
        a[i] = b[i - 1];
#endif
    return 0;
}
