// A counter of each thread.
static int n, total;
#ifndef RACY
#pragma omp threadprivate(n)
#endif
int main(void) {
#pragma omp parallel
    {
        n++; // RACE!
#pragma omp barrier
#pragma omp atomic
        total += n;
    }
    return 0;
}
