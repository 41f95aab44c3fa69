// A task that is waited for.
static int x;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
        x++; // RACE!
#ifndef RACY
#pragma omp taskwait
#endif
        x++; // RACE!
    }
    return 0;
}
