// A matrix times a vector; the sum of a row is kept in a variable of the row, or of all rows.
enum { N = 4 };
static double a[N][N], x[N], y[N];

int main(void) {
    double sum = 0;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for private(sum)
#endif
    for (int i = 0; i < N; i++) {
        sum = 0; // RACE!
        for (int j = 0; j < N; j++)
            sum += a[i][j] * x[j]; // RACE!
        y[i] = sum; // RACE!
    }
    return y[0] > sum;
}
