// A function that the C library calls.
#include <stdlib.h>
static int compared, rows[8][4];
static int by_value(const void *a, const void *b) {
#ifdef RACY
    compared = 1; // RACE!
#endif
    return *(const int *)a - *(const int *)b;
}
int main(void) {
#pragma omp simd
    for (int i = 0; i < 8; i++)
        qsort(rows[i], 4, sizeof(int), by_value);
    return compared;
}
