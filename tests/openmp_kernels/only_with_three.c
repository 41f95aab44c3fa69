// The number of threads is open; a race needs at least three.
#include <omp.h>
static int x;

int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#ifdef RACY
        if (me >= 1)
            x = me; // RACE!
#else
        if (me == 1)
            x = me;
#endif
    }
    return x == 9;
}
