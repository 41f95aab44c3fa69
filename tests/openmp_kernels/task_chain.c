// A chain of dependences.
static int x;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 3; i++)
#ifdef RACY
#pragma omp task depend(in : x)
#else
#pragma omp task depend(inout : x)
#endif
            x++; // RACE!
    }
    return 0;
}
