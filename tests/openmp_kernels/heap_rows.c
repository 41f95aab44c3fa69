// Rows of a length that is not constant.
#include <stdlib.h>
int main(void) {
    int n = 6;
    double *m = calloc(n * n + 1, sizeof *m);
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
#ifdef RACY
            m[i * n + j] = m[i * n + j + 1]; // RACE!
#else
            m[i * n + j] = i;
#endif
    free(m);
    return 0;
}
