// Rows of a matrix in one array.
static int m[400];

int main(void) {
#pragma omp parallel for
    for (int i = 1; i < 20; i++)
    for (int j = 0; j < 20; j++)
#ifdef RACY
        m[i * 20 + j] = m[(i - 1) * 20 + j]; // RACE!
#else
        m[i * 20 + j] = j;
#endif
    return 0;
}
