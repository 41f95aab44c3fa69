// Both loops in lanes.
static int a[8][8];
int main(void) {
#pragma omp simd collapse(2)
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
#ifdef RACY
            a[i][0] += j; // RACE!
#else
            a[i][j] += j;
#endif
    return a[2][2];
}
