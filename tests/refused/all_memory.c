// flags: -fopenmp
// Shows: OpenMP: dependences on `omp_all_memory`
static int x;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(inout : omp_all_memory) // REFUSED omp_all_memory
        x++;
    }
    return x;
}
