// Columns of a matrix.
static int m[20][20];

int main(void) {
#pragma omp parallel for
    for (int j = 1; j < 20; j++)
    for (int i = 0; i < 20; i++)
#ifdef RACY
        m[i][j] = m[i][j - 1] + 1; // RACE!
#else
        m[i][j] = m[i][j] + 1;
#endif
    return 0;
}
