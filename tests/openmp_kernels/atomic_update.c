// Atomic updates.
#include <omp.h>
static int n, copy[128];
int main(void) {
#pragma omp parallel
    {
#pragma omp atomic
        n++; // RACE!
#ifndef RACY
        int now;
#pragma omp atomic read
        now = n;
        copy[omp_get_thread_num()] = now;
#else
        copy[omp_get_thread_num()] = n; // RACE!
#endif
    }
    return 0;
}
