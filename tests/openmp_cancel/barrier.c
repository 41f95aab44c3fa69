// A thread that finds its region cancelled at a barrier leaves, after all others have come to that barrier or left.
#include <omp.h>

static int x;

int main(void) {
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 0) {
            x = 1; // RACE!
#pragma omp cancel parallel
            x = 2;
        }
#ifdef RACY
        else if (omp_get_thread_num() == 1) {
            x = 3; // RACE!
        }
#endif
#pragma omp barrier
        x = 4;
    }
    return x;
}
