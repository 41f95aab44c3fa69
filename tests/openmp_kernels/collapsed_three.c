// Three loops as one, with a block of memory in one dimension.
#include <stdlib.h>
enum { N = 2, M = 2, K = 3 };
#ifdef RACY
enum { COLLAPSED_STRIDE = K - 1 };
#else
enum { COLLAPSED_STRIDE = K };
#endif

int main(void) {
    int *a = malloc(N * M * K * sizeof *a);
    if (!a)
        return 1;
#pragma omp parallel for collapse(3)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            for (int k = 0; k < K; k++)
                a[(i * M + j) * COLLAPSED_STRIDE + k] = i; // RACE!
    free(a);
    return 0;
}
