// Readers after a writer.
static int x, a[3];
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out : x)
        x = 1; // RACE!
        for (int i = 0; i < 3; i++)
#ifdef RACY
#pragma omp task depend(in : a[i])
#else
#pragma omp task depend(in : x)
#endif
            a[i] = x; // RACE!
    }
    return 0;
}
