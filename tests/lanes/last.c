// A value for after the loop, and one that grows with it.
static int a[40];
int main(void) {
    int last = 0, k = 0;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd lastprivate(last) linear(k)
#endif
    for (int i = 0; i < 40; i++) {
        last = a[i]; // RACE!
        k++;         // RACE!
        a[i] = k;    // RACE!
    }
    return last + k;
}
