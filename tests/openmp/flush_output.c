// Output is flushed in a region: no event, and the search goes on.
#include <stdio.h>

static int sum;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        fflush(stdout);
#ifdef RACY
        sum++; // RACE!
#else
#pragma omp atomic
        sum++;
#endif
        fflush(stdout);
    }
    return 0;
}
