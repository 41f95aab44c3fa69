// Each element has a lock; the racy twin takes the neighbour's.
#include <omp.h>
enum { N = 4, ELEMENTS = 2 };
static omp_lock_t locks[ELEMENTS];
static int a[ELEMENTS];

int main(void) {
    for (int i = 0; i < ELEMENTS; i++)
        omp_init_lock(&locks[i]);
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < N; i++) {
        int at = i / 2 % ELEMENTS;
#ifdef RACY
        int guard = i % ELEMENTS;
#else
        int guard = at;
#endif
        omp_set_lock(&locks[guard]);
        a[at] += i; // RACE!
        omp_unset_lock(&locks[guard]);
    }
    return a[0] == 99;
}
