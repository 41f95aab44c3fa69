// Two loops as one: the rows of a matrix are shared out together with its columns.
enum { N = 2 };

int main(void) {
    int m[N][N] = {{0}};
    int row[N] = {0};
#pragma omp parallel for collapse(2) num_threads(4)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
#ifdef RACY
            row[i] += j; // RACE!
#endif
            m[i][j] = i + j; // NORACE
        }
    return m[0][0] + row[0] == 9;
}
