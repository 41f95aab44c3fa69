// Two fields by turns: what one step writes the next one reads.
enum { N = 4, STEPS = 2 };

int main(void) {
    double field[2][N] = {{0, 1, 1, 0}, {0, 0, 0, 0}};
#pragma omp parallel
    for (int step = 0; step < STEPS; step++) {
#ifdef RACY
        double *from = field[0], *to = field[0];
#else
        double *from = field[step % 2], *to = field[1 - step % 2];
#endif
#pragma omp for
        for (int i = 1; i < N - 1; i++)
            to[i] = (from[i - 1] + from[i + 1]) / 2; // RACE!
    }
    return field[0][1] == 9;
}
