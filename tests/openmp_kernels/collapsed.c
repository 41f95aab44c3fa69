// Two loops as one: both indices belong to an iteration.
enum { N = 3, M = 4 };
static int a[N][M], rows[N];

int main(void) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            a[i][j] = i * j;
#ifdef RACY
            rows[i] = j; // RACE!
#endif
        }
    return a[0][0] + rows[0] == 9;
}
