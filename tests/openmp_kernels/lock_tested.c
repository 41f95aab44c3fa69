// Who does not get the lock does something else, or the same.
#include <omp.h>
static omp_lock_t lock;
static int x, missed;

int main(void) {
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        if (omp_test_lock(&lock)) {
            x++; // RACE!
            omp_unset_lock(&lock);
        } else {
#ifdef RACY
            x++; // RACE!
#else
#pragma omp atomic
            missed++;
#endif
        }
    }
    omp_destroy_lock(&lock);
    return x + missed == 9;
}
