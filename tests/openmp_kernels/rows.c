// Rows of a matrix.
static int m[20][30];

int main(void) {
#pragma omp parallel for
    for (int i = 1; i < 20; i++)
    for (int j = 0; j < 30; j++)
#ifdef RACY
        m[i][j] = m[i - 1][j] + 1; // RACE!
#else
        m[i][j] = m[i][j] + 1;
#endif
    return 0;
}
