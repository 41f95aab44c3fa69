// A loop that is shared out again and again.
static int a[4];
int main(void) {
#pragma omp parallel num_threads(2)
    for (int round = 0; round < 2; round++) {
#ifdef RACY
#pragma omp for schedule(dynamic) nowait
#else
#pragma omp for schedule(dynamic)
#endif
        for (int i = 0; i < 4; i++)
            a[i]++; // RACE!
    }
    return 0;
}
