// Barriers in a loop that all threads execute.
#include <omp.h>
static int a[128], b[128];
int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num(), all = omp_get_num_threads();
        for (int round = 0; round < 3; round++) {
            a[me] = b[(me + 1) % all]; // RACE!
#pragma omp barrier
            b[me] = a[(me + 1) % all]; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        }
    }
    return 0;
}
