// A lock for each element.
#include <omp.h>
static int a[4];
static omp_lock_t l[4];
int main(void) {
    for (int i = 0; i < 4; i++)
        omp_init_lock(&l[i]);
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 4; i++) {
        int at = 1;
#ifdef RACY
        omp_set_lock(&l[i]);
#else
        omp_set_lock(&l[at]);
#endif
        a[at] += i; // RACE!
#ifdef RACY
        omp_unset_lock(&l[i]);
#else
        omp_unset_lock(&l[at]);
#endif
    }
    return 0;
}
