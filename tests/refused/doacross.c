// flags: -fopenmp
// Shows: OpenMP: `doacross` loops
static int a[4];

int main(void) {
#pragma omp parallel for ordered(1) num_threads(2) // REFUSED doacross
    for (int i = 1; i < 4; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    return a[3];
}
