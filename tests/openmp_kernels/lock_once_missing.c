// One of two users of a counter does not take the lock.
#include <omp.h>
static int x;

int main(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel sections
    {
#pragma omp section
        {
            omp_set_lock(&lock);
            x++; // RACE!
            omp_unset_lock(&lock);
        }
#pragma omp section
        {
#ifndef RACY
            omp_set_lock(&lock);
#endif
            x--; // RACE!
#ifndef RACY
            omp_unset_lock(&lock);
#endif
        }
    }
    omp_destroy_lock(&lock);
    return x == 9;
}
