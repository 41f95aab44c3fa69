// Each iteration writes its own element.
static double x[1000], y[1001];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 1000; i++)
#ifdef RACY
        y[i] = 2 * x[i] + y[i + 1]; // RACE!
#else
        y[i] = 2 * x[i] + y[i];
#endif
    return 0;
}
