// Yielding orders nothing.
int main(void) {
    int x = 0, copy = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(x)
        x = 1; // RACE!
#ifdef RACY
#pragma omp taskyield
#else
#pragma omp taskwait
#endif
        copy = x; // RACE!
    }
    return copy == 9;
}
