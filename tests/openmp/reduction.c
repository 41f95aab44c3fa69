// Each thread sums up for itself; the sums are combined one after the other.
// Shows: OpenMP: reductions
enum { N = 4 };

int main(void) {
    int a[N] = {1, 2, 3, 4};
    int sum = 0, most = 0;
#ifdef RACY
#pragma omp parallel for reduction(max : most)
#else
#pragma omp parallel for reduction(+ : sum) reduction(max : most)
#endif
    for (int i = 0; i < N; i++) {
        sum += a[i]; // RACE!
        if (a[i] > most)
            most = a[i]; // NORACE
    }
    return sum != 10 || most != 4;
}
