// Waiting for one of two tasks.
static int x, y;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1; // RACE!
#pragma omp task depend(out : y)
        y = 1;
#ifdef RACY
#pragma omp taskwait depend(in : y)
#else
#pragma omp taskwait depend(in : x)
#endif
        x++; // RACE!
    }
    return 0;
}
