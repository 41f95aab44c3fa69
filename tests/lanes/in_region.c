// A loop in a function that threads call, with a local of that function.
static int a[10][10];
static void row(int *r, int n) {
    int last = 0;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd lastprivate(last)
#endif
    for (int i = 0; i < n; i++) {
        last = i;    // RACE!
        r[i] = last; // RACE!
    }
    r[0] = last;
}
int main(void) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 10; i++)
        row(a[i], 10);
    return 0;
}
