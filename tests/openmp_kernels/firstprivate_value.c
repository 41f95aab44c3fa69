// A value that each thread has a copy of.
static int a[60];
int main(void) {
    int t = 7;
#ifdef RACY
#pragma omp parallel for shared(t)
#else
#pragma omp parallel for firstprivate(t)
#endif
    for (int i = 0; i < 60; i++) {
        t++; // RACE!
        a[i] = t; // RACE!
    }
    return 0;
}
