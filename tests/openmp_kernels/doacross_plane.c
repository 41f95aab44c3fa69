// A wave front over a plane: each element waits for its neighbours to the left and above.
enum { N = 3 };
static int a[N][N];

int main(void) {
#pragma omp parallel for ordered(2) collapse(2) schedule(static, 1)
    for (int i = 1; i < N; i++)
        for (int j = 1; j < N; j++) {
#ifdef RACY
#pragma omp ordered depend(sink : i, j - 1)
#else
#pragma omp ordered depend(sink : i, j - 1) depend(sink : i - 1, j)
#endif
            a[i][j] = a[i - 1][j] + a[i][j - 1]; // RACE!
#pragma omp ordered depend(source)
        }
    return a[1][1];
}
