// A thousand elements, set by one thread before the region.
enum { N = 1000 };
static double a[N], b[N], c[N];

int main(void) {
    double scale = 1;
    for (int i = 0; i < N; i++) {
        a[i] = i;
        b[i] = 2 * i;
    }
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
#ifdef RACY
        scale = a[i]; // RACE!
#endif
        c[i] = a[i] + b[i] * scale; // RACE!
    }
    return c[1] > 9999;
}
