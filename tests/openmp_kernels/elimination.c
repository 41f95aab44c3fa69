// Gaussian elimination: the rows below the pivot are independent; the pivots are not.
enum { N = 4 };
static double a[N][N] = {{4, 1, 1, 1}, {1, 4, 1, 1}, {1, 1, 4, 1}, {1, 1, 1, 4}};

int main(void) {
#ifdef RACY
#pragma omp parallel for schedule(static, 1)
    for (int k = 0; k < N - 1; k++)
        for (int i = k + 1; i < N; i++) {
            double factor = a[i][k] / a[k][k]; // RACE!
            for (int j = k; j < N; j++)
                a[i][j] -= factor * a[k][j]; // RACE!
        }
#else
    for (int k = 0; k < N - 1; k++)
#pragma omp parallel for
        for (int i = k + 1; i < N; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < N; j++)
                a[i][j] -= factor * a[k][j];
        }
#endif
    return a[0][0] > 9;
}
