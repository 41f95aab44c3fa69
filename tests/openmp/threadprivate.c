// A variable of each thread, which lasts from one region to the next.
#include <omp.h>

static int count;
#ifndef RACY
#pragma omp threadprivate(count)
#endif

int main(void) {
    int sum = 0;
#pragma omp parallel
    count = omp_get_thread_num() + 1; // RACE!
#pragma omp parallel reduction(+ : sum)
    sum += count;
    if (sum == 0)
        return 1;
#ifndef RACY
    return sum != 3;
#endif
    return 0;
}
