// Each iteration waits for the one before.
// Shows: OpenMP: `doacross` loops
static int a[5];
int main(void) {
#pragma omp parallel for ordered(1) num_threads(2)
    for (int i = 1; i < 5; i++) {
#ifndef RACY
#pragma omp ordered depend(sink : i - 1)
#endif
        a[i] = a[i - 1] + 1; // RACE!
#pragma omp ordered depend(source)
    }
    return 0;
}
