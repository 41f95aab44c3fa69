// A block that an iteration allocates is its own, although the next one gets the same address.
#include <stdlib.h>

static int a[20];
int main(void) {
    int *shared = malloc(8);
#pragma omp simd
    for (int i = 0; i < 20; i++) {
        int *p = malloc(8);
#ifdef RACY
        shared[0] = i; // RACE!
#endif
        p[0] = i;
        a[i] = p[0];
        free(p);
    }
    free(shared);
    return a[2];
}
