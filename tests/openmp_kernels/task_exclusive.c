// Tasks that exclude each other without an order; readers do not.
int main(void) {
    int x = 0;
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
#pragma omp task shared(x) depend(in : x)
        x += 1; // RACE!
#pragma omp task shared(x) depend(in : x)
        x += 2; // RACE!
#else
#pragma omp task shared(x) depend(mutexinoutset : x)
        x += 1;
#pragma omp task shared(x) depend(mutexinoutset : x)
        x += 2;
#endif
#pragma omp task shared(x) depend(in : x)
        x += 0; // RACE!
    }
    return x == 9;
}
