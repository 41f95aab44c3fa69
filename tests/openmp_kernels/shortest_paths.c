// All shortest paths: each step reads one row and one column, which it does not change.
enum { N = 3 };
static int d[N][N] = {{0, 1, 9}, {9, 0, 1}, {1, 9, 0}}, e[N][N];

int main(void) {
    for (int k = 0; k < N; k++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int through = d[i][k] + d[k][j]; // RACE!
#ifdef RACY
                if (through < d[i][j])  // RACE!
                    d[i][j] = through;  // RACE!
                else
                    d[i][j] += 0; // RACE!
#else
                e[i][j] = through < d[i][j] ? through : d[i][j];
#endif
            }
#ifndef RACY
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                d[i][j] = e[i][j];
#endif
    }
    return d[0][0];
}
