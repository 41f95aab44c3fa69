// What is written before a barrier may be read after it.
#include <omp.h>

int main(void) {
    int part[2];
    int sum = 0;
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        part[me] = me; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
        int other = part[1 - me]; // RACE!
#pragma omp atomic
        sum += other;
    }
    return sum == 9;
}
