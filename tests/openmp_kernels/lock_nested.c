// A lock that its owner may take again; the inner release is not the last.
#include <omp.h>
static omp_nest_lock_t lock;
static int x;

static void add(void) {
    omp_set_nest_lock(&lock);
    x++; // RACE!
    omp_unset_nest_lock(&lock);
}

int main(void) {
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_nest_lock(&lock);
        add();
#ifdef RACY
        omp_unset_nest_lock(&lock);
        x += 2; // RACE!
#else
        x += 2;
        omp_unset_nest_lock(&lock);
#endif
    }
    omp_destroy_nest_lock(&lock);
    return x == 9;
}
