// A matrix transposed.
static int a[12][12], b[12][12];
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
#ifdef RACY
            a[i][j] = a[j][i]; // RACE!
#else
            b[i][j] = a[j][i];
#endif
    return 0;
}
