// A value of the last iteration.
static int a[60], last;
int main(void) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for lastprivate(last)
#endif
    for (int i = 0; i < 60; i++)
        last = a[i]; // RACE!
    a[0] = last;
    return 0;
}
