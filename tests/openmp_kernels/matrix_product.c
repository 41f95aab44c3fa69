// A product of matrices.
static double a[8][8], b[8][8], c[8][8];
int main(void) {
#ifdef RACY
#pragma omp parallel for collapse(3)
#else
#pragma omp parallel for collapse(2)
#endif
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            for (int l = 0; l < 8; l++)
                c[i][j] += a[i][l] * b[l][j]; // RACE!
    return 0;
}
