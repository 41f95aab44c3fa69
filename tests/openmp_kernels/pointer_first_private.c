// A private copy of a pointer points to the same memory as all others.
#include <stdlib.h>
enum { N = 4 };

int main(void) {
    int *p = malloc(N * sizeof *p);
    if (!p)
        return 1;
#pragma omp parallel for firstprivate(p)
    for (int i = 0; i < N; i++)
#ifdef RACY
        *p = i; // RACE!
#else
        p[i] = i;
#endif
    free(p);
    return 0;
}
