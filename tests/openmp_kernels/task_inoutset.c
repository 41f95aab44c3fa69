// Tasks of one set, which are not ordered.
static int x[2], y;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 2; i++)
#pragma omp task depend(inoutset : x)
#ifdef RACY
            x[0]++; // RACE!
#else
            x[i]++;
#endif
#pragma omp task depend(in : x)
        y = x[0];
    }
    return 0;
}
