// A value of each iteration.
static int a[60];
int main(void) {
    int t;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for private(t)
#endif
    for (int i = 0; i < 60; i++) {
        t = a[i]; // RACE!
        a[i] = t + 1; // RACE!
    }
    return 0;
}
