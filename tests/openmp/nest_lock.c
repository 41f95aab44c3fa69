// A nested lock is free when it was released as often as it was taken.
// Shows: OpenMP: locks
#include <omp.h>

static omp_nest_lock_t lock;
static int count;

static void add(void) {
    omp_set_nest_lock(&lock);
    count++; // RACE!
    omp_unset_nest_lock(&lock);
}

int main(void) {
    omp_init_nest_lock(&lock);
#pragma omp parallel
    {
        omp_set_nest_lock(&lock);
        add();
#ifdef RACY
        omp_unset_nest_lock(&lock);
        count++; // RACE!
#else
        count++; // NORACE
        omp_unset_nest_lock(&lock);
#endif
    }
    omp_destroy_nest_lock(&lock);
    return count == 9;
}
