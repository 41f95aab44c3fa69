// Two sums and a product.
static double a[60], s, t, p = 1;
int main(void) {
#ifdef RACY
#pragma omp parallel for reduction(+ : s) reduction(* : p)
#else
#pragma omp parallel for reduction(+ : s, t) reduction(* : p)
#endif
    for (int i = 0; i < 60; i++) {
        s += a[i];
        t -= a[i]; // RACE!
        p *= 2;
    }
    return 0;
}
