// A region in a region.
// Shows: OpenMP: regions in regions
#include <omp.h>
static int a[8][8], x;
int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
            int me = omp_get_thread_num();
#ifdef RACY
            a[0][me]++; // RACE!
#else
            a[outer][me]++;
#endif
        }
    }
    return 0;
}
