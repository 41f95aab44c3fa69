// Each pair of bodies is computed once: the second body's force belongs to another iteration.
enum { N = 4 };
static double x[N] = {0, 1, 3, 6}, force[N];

int main(void) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < N; i++)
#ifdef RACY
        for (int j = i + 1; j < N; j++) {
            force[i] += x[j] - x[i]; // RACE!
            force[j] -= x[j] - x[i]; // RACE!
        }
#else
        for (int j = 0; j < N; j++)
            if (j != i)
                force[i] += x[j] - x[i];
#endif
    return force[0] > 99;
}
