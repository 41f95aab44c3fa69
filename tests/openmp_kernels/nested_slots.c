// Inner threads write slots of their outer thread; by their own number alone they meet.
#include <omp.h>
static int slots[4][4];

int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
        int outer = omp_get_thread_num() & 3;
#pragma omp parallel num_threads(2)
        {
            int inner = omp_get_thread_num() & 3;
#ifdef RACY
            slots[0][inner] = outer; // RACE!
#else
            slots[outer][inner] = outer;
#endif
        }
    }
    return slots[0][0] == 9;
}
