// A block is freed while a task still uses it.
#include <stdlib.h>

int main(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
        int *block = calloc(1, sizeof *block);
        if (block) {
#pragma omp task firstprivate(block) shared(sum)
            sum = *block; // RACE!
#ifndef RACY
#pragma omp taskwait
#endif
            free(block); // RACE!
        }
    }
    return sum;
}
