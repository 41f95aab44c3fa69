// Only one thread enters; in the racy twin a filter lets each of them in.
#include <omp.h>
static int x;

int main(void) {
#pragma omp parallel
    {
#ifdef RACY
#pragma omp masked filter(omp_get_thread_num())
#else
#pragma omp masked filter(1)
#endif
        x++; // RACE!
    }
    return x == 9;
}
