// Each thread writes its own element and reads its neighbour's after a barrier.
#include <omp.h>
enum { MOST = 64 };
static int mine[MOST], sums[MOST];

int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num(), count = omp_get_num_threads();
        if (me < MOST && count <= MOST) {
            mine[me] = me + 1; // RACE!
        }
#ifndef RACY
#pragma omp barrier
#endif
        if (me < MOST && count <= MOST)
            sums[me] = mine[(me + 1) % count]; // RACE!
    }
    return sums[0] == 99;
}
