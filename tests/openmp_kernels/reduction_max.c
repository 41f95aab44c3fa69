// The largest element.
static int a[60], most;

int main(void) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(max : most)
#endif
    for (int i = 0; i < 60; i++)
#ifdef RACY
        most = a[i] >= most ? a[i] : most; // RACE!
#else
        most = a[i] > most ? a[i] : most;
#endif
    return 0;
}
