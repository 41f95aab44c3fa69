// A target region that is not waited for is a task.
int main(void) {
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp target map(tofrom : x) nowait depend(out : x)
        x = 1; // RACE!
#ifdef RACY
        x += 1; // RACE!
#else
#pragma omp task depend(inout : x) shared(x)
        x += 1;
#endif
#pragma omp taskwait
    }
    return x == 9;
}
