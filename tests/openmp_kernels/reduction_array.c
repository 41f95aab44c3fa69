// A histogram.
static int h[4];
int main(void) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(+ : h)
#endif
    for (int i = 0; i < 40; i++)
        h[i % 4]++; // RACE!
    return 0;
}
