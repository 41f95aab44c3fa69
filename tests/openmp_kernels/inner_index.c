// The index of the inner loop is declared outside of the region.
enum { N = 4, M = 3 };

int main(void) {
    int a[N][M], j;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for private(j)
#endif
    for (int i = 0; i < N; i++)
        for (j = 0; j < M; j++) // RACE!
            a[i][j] = 1;        // RACE!
    return a[0][0] == 9;
}
