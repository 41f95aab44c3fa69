// Tasks are ordered by the memory they say they use.
// Shows: OpenMP: tasks and their dependences
int main(void) {
    int stage = 0, copy = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(stage) depend(out : stage)
        stage = 1; // RACE!
#ifdef RACY
#pragma omp task shared(stage, copy) depend(in : copy)
#else
#pragma omp task shared(stage, copy) depend(in : stage)
#endif
        copy = stage; // RACE!
    }
    return copy == 9;
}
