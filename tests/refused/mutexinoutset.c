// flags: -fopenmp
// Shows: OpenMP: dependences `mutexinoutset` and `inoutset`
static int x;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(mutexinoutset : x) // REFUSED `depend(mutexinoutset: ...)`
        x++;
#pragma omp task depend(mutexinoutset : x)
        x++;
    }
    return x;
}
