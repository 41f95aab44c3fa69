// Tasks of one set run beside each other, and all of them before the next reader.
int main(void) {
    int x[2] = {0, 0}, sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(x) depend(inoutset : x)
        x[0] = 1; // RACE!
#pragma omp task shared(x) depend(inoutset : x)
#ifdef RACY
        x[0] = 2; // RACE!
#else
        x[1] = 2;
#endif
#pragma omp task shared(x, sum) depend(in : x)
        sum = x[0] + x[1];
    }
    return sum == 9;
}
