// Lanes reduce a part of an array: each has a copy, whose length is known when the loop begins.
#include <stdlib.h>

static int x[40];
int main(int argc, char **argv) {
    (void)argv;
    int n = argc + 3, a[4] = {0};
    int *p = calloc(n, sizeof *p);
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd reduction(+ : p[0 : n], a[ : 4])
#endif
    for (int i = 0; i < 40; i++) {
        p[i % 4] += x[i];    // RACE!
        a[(i + 1) % 4] += 1; // RACE!
    }
    free(p);
    return a[0] > 10;
}
