// Target regions as tasks.
static int x;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp target nowait depend(out : x) map(tofrom : x)
        x = 1; // RACE!
#ifdef RACY
#pragma omp target nowait map(tofrom : x)
#else
#pragma omp target nowait depend(in : x) map(tofrom : x)
#endif
        x++; // RACE!
    }
    return 0;
}
