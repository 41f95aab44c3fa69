// Tasks that exclude each other.
// Shows: OpenMP: dependences `mutexinoutset` and `inoutset`
static int x, y;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < 2; i++)
#ifdef RACY
#pragma omp task depend(inoutset : x)
#else
#pragma omp task depend(mutexinoutset : x)
#endif
            x++; // RACE!
#pragma omp task depend(in : x)
        y = x;
    }
    return 0;
}
