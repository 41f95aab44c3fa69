// Iterations that a cancelled loop leaves out decide what follows it.
static int done[4], skipped;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static, 2)
        for (int i = 0; i < 4; i++) {
            if (i == 0) {
#pragma omp cancel for
            }
            done[i] = 1;
#pragma omp cancellation point for
        }
        if (!done[0]) {
#ifndef RACY
#pragma omp atomic
#endif
            skipped++; // RACE!
        }
    }
    return skipped;
}
