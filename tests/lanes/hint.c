// A hint to the compiler, which looks for itself whether iterations may run together.
static int a[40];
int main(void) {
    int s = 0;
#ifdef RACY
#pragma omp simd
#else
#pragma clang loop vectorize(enable)
#endif
    for (int i = 0; i < 39; i++)
        s += a[i]; // RACE!
    return s;
}
