// Regions inside of regions have threads of their own, if the program allows that.
#include <omp.h>

static int counts[2];

int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
        {
#ifdef RACY
            counts[outer]++; // RACE!
#else
            if (omp_get_thread_num() == 1)
                counts[outer]++;
#endif
        }
    }
    return counts[0] + counts[1] == 2 ? 0 : 1;
}
