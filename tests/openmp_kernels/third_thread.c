// The third thread writes what the first one reads: with two threads there is nothing to see.
#include <omp.h>
static int x, seen;

int main(void) {
#pragma omp parallel num_threads(3)
    {
        if (omp_get_thread_num() == 2)
            x = 1; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        if (omp_get_thread_num() == 0)
            seen = x; // RACE!
    }
    return seen == 9;
}
