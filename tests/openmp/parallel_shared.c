// Every thread of a region executes all of it.
#include <omp.h>

int main(void) {
    int last = -1;
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#ifdef RACY
        last = me; // RACE!
#else
#pragma omp critical
        last = me; // NORACE
#endif
    }
    return last < 0;
}
