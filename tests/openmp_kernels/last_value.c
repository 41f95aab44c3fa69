// The value of the last iteration is used after the loop.
enum { N = 10 };

int main(void) {
    int a[N], last = 0;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for lastprivate(last)
#endif
    for (int i = 0; i < N; i++) {
        a[i] = i;
        last = 2 * i; // RACE!
    }
    return a[0] + last == 99;
}
