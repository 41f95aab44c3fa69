// The value of the index after a loop inside.
static int m[101];
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 9; i++) {
        int j;
        for (j = 0; j < 10; j++)
            m[i * 10 + j] = j; // RACE!
#ifdef RACY
        m[i * 10 + j] = j; // RACE!
#else
        m[i * 10 + 9] = j;
#endif
    }
    return 0;
}
