// A barrier after writing and another after reading, in each step.
#include <omp.h>
enum { STEPS = 2 };
static int cells[2];

int main(void) {
#pragma omp parallel num_threads(2)
    {
        int me = omp_get_thread_num();
        for (int step = 0; step < STEPS; step++) {
            cells[me & 1] += step + 1; // RACE!
#pragma omp barrier
            int other = cells[~me & 1]; // RACE!
#ifndef RACY
#pragma omp barrier
#endif
            if (other == 99)
                break;
        }
    }
    return cells[0] == 99;
}
