// A task runs beside the one that made it, until that waits for it.
int main(void) {
    int result = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(result)
        result = 42; // RACE!
#ifndef RACY
#pragma omp taskwait
#endif
        seen = result; // RACE!
    }
    return seen == 9;
}
