// Chunks of two iterations go round: neighbours are in the same thread only inside of a chunk.
enum { N = 8 };

int main(void) {
    int a[N] = {0};
#pragma omp parallel for schedule(static, 2) num_threads(2)
    for (int i = 0; i < N; i++) {
#ifdef RACY
        if (i % 2 == 1)
            a[(i + 1) % N] = i; // RACE!
        else
            a[i]++; // RACE!
#else
        a[i ^ 1] = i; // NORACE
        a[i] = i;     // NORACE
#endif
    }
    return a[0] == 9;
}
