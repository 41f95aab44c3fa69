// Two loops as one.
static int m[10][12];

int main(void) {
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 10; i++)
    for (int j = 0; j < 11; j++)
#ifdef RACY
        m[i][j] = m[i][j + 1]; // RACE!
#else
        m[i][j] += i;
#endif
    return 0;
}
