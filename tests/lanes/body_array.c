// An array that the body declares, by a pointer.
static int a[50], g[4];
int main(void) {
#pragma omp simd
    for (int i = 0; i < 50; i++) {
        int tmp[4];
#ifdef RACY
        int *p = g;
#else
        int *p = tmp;
#endif
        for (int k = 0; k < 4; k++)
            p[k] = i + k; // RACE!
        a[i] = p[2];      // RACE!
    }
    return a[2];
}
