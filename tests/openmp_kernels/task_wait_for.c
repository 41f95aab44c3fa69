// Waiting for one task by its dependence, not for all.
int main(void) {
    int a = 0, b = 0, sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(a) depend(out : a)
        a = 1;
#pragma omp task shared(b) depend(out : b)
        b = 2; // RACE!
#ifdef RACY
#pragma omp taskwait depend(in : a)
#else
#pragma omp taskwait depend(in : a, b)
#endif
        sum = a + b; // RACE!
    }
    return sum == 9;
}
