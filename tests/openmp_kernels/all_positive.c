// Whether all elements are positive.
#include <stdbool.h>
enum { N = 8 };
static int a[N] = {3, 1, 4, 1, 5, 9, 2, 6};

int main(void) {
    bool all = true;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(&& : all)
#endif
    for (int i = 0; i < N; i++)
        all = all && a[i] > 0; // RACE!
    return !all;
}
