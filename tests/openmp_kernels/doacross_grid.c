// Each iteration waits for two before.
static int a[3][3];
int main(void) {
#pragma omp parallel for ordered(2) num_threads(2)
    for (int i = 1; i < 3; i++)
        for (int j = 1; j < 3; j++) {
#ifdef RACY
#pragma omp ordered depend(sink : i, j - 1)
#else
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
#endif
            a[i][j] = a[i - 1][j] + a[i][j - 1]; // RACE!
#pragma omp ordered depend(source)
        }
    return 0;
}
