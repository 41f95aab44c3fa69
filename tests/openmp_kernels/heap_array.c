// A block from the heap.
#include <stdlib.h>
int main(void) {
    int *p = calloc(60, sizeof *p);
#pragma omp parallel for
    for (int i = 0; i < 60; i++)
#ifdef RACY
        p[i / 2] = i; // RACE!
#else
        p[i] = i;
#endif
    free(p);
    return 0;
}
