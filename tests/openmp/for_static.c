// Iterations of a loop are independent, or each needs what the one before it wrote.
enum { N = 6 };

int main(void) {
    int a[N + 1] = {0};
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
#ifdef RACY
        a[i] = a[i + 1] + 1; // RACE!
#else
        a[i] = a[i] + 1; // NORACE
#endif
    }
    return a[0] == 9;
}
