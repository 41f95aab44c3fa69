// A triangular matrix; writing the other half as well meets the diagonal's neighbours.
enum { N = 5 };
static int a[N][N];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            a[i][j] = i + j; // RACE!
#ifdef RACY
            if (i > 0)
                a[i - 1][j] = i; // RACE!
#endif
        }
    return a[0][0] == 9;
}
