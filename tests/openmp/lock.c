// A lock protects from those who take it.
#include <omp.h>

int main(void) {
    omp_lock_t lock;
    int count = 0;
    omp_init_lock(&lock);
#pragma omp parallel
    {
        omp_set_lock(&lock);
        count++; // RACE!
        omp_unset_lock(&lock);
#ifdef RACY
        if (omp_get_thread_num() == 1)
            count = 0; // RACE!
#endif
    }
    omp_destroy_lock(&lock);
    return count == 9;
}
