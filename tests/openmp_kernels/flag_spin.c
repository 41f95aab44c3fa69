// A flag with an acquire and a release.
#include <omp.h>
static int x, ready;
int main(void) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            x = 1; // RACE!
#ifdef RACY
#pragma omp atomic write relaxed
#else
#pragma omp atomic write release
#endif
            ready = 1;
        } else {
            int seen = 0;
            while (!seen) {
#ifdef RACY
#pragma omp atomic read relaxed
#else
#pragma omp atomic read acquire
#endif
                seen = ready;
            }
            x++; // RACE!
        }
    }
    return 0;
}
