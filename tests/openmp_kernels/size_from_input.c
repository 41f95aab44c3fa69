// The number of elements comes from the command line.
#include <stdlib.h>

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 6;
    if (n < 2 || n > 1000)
        return 1;
    int *a = calloc((size_t)n + 1, sizeof *a), *b = calloc((size_t)n, sizeof *b);
    if (!a || !b)
        return 1;
#pragma omp parallel for
    for (int i = 0; i < n; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        b[i] = a[i + 1];
#endif
    free(a);
    free(b);
    return 0;
}
