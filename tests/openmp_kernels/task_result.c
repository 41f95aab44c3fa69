// The result of a task is used before the task has to be done.
int main(void) {
    int result = 0, copy = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(result)
        result = 1; // RACE!
#ifndef RACY
#pragma omp taskwait
#endif
        copy = result; // RACE!
    }
    return copy == 9;
}
