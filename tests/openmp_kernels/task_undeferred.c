// A task that is executed at once.
static int x;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#ifdef RACY
#pragma omp task if (1)
#else
#pragma omp task if (0)
#endif
        x++; // RACE!
        x++; // RACE!
    }
    return 0;
}
