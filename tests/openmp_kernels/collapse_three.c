// Three loops as one.
static int m[4][4][5];

int main(void) {
#pragma omp parallel for collapse(3)
    for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
    for (int l = 0; l < 4; l++)
#ifdef RACY
        m[i][j][l] = m[i][j][l + 1]; // RACE!
#else
        m[i][j][l] = l;
#endif
    return 0;
}
