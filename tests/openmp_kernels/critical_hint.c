// A critical section with a hint.
#include <omp.h>
static int sum, other;
int main(void) {
#pragma omp parallel
    {
#pragma omp critical(one) hint(omp_sync_hint_contended)
        sum++; // RACE!
#ifdef RACY
#pragma omp critical(two)
#else
#pragma omp critical(one) hint(omp_sync_hint_contended)
#endif
        sum += 2; // RACE!
    }
    return 0;
}
