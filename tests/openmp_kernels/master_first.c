// The first thread initialises.
#include <omp.h>
static int x, y[8];
int main(void) {
#pragma omp parallel
    {
#pragma omp masked
        x = 1; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
#pragma omp critical
        y[0] += x; // RACE!
    }
    return 0;
}
