// A temporary that is declared outside of the loop is shared.
static int a[100], b[100];
int main(void) {
    int t;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd private(t)
#endif
    for (int i = 0; i < 100; i++) {
        t = a[i];     // RACE!
        b[i] = t + 1; // RACE!
    }
    return b[3];
}
