// A barrier between two phases.
#include <omp.h>
static int a[64], b[64];
int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        a[me] = me; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        b[me] = a[(me + 1) % all]; // RACE!
    }
    return 0;
}
