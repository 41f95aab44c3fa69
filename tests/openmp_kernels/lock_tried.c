// A lock that is tried.
#include <omp.h>
static int x;
static omp_lock_t l;
int main(void) {
    omp_init_lock(&l);
#pragma omp parallel num_threads(2)
    {
        int held = omp_test_lock(&l);
#ifdef RACY
        x++; // RACE!
#else
        if (held)
            x++;
#endif
        if (held)
            omp_unset_lock(&l);
    }
    return 0;
}
