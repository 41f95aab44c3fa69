// A value of each thread, copied at the start.
static int n, total;
#pragma omp threadprivate(n)
int main(void) {
    n = 3;
#pragma omp parallel copyin(n)
    {
        n++;
#ifndef RACY
#pragma omp critical
#endif
        total += n; // RACE!
    }
    return 0;
}
