// A sum over all elements before: the loop carries it from iteration to iteration.
enum { N = 6 };
static int a[N] = {1, 2, 3, 4, 5, 6}, sums[N];

int main(void) {
#ifdef RACY
    sums[0] = a[0];
#pragma omp parallel for
    for (int i = 1; i < N; i++)
        sums[i] = sums[i - 1] + a[i]; // RACE!
#else
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        int sum = 0;
        for (int j = 0; j <= i; j++)
            sum += a[j];
        sums[i] = sum;
    }
#endif
    return sums[N - 1] == 99;
}
