// A loop in a target region, which the host executes.
enum { N = 6 };

int main(void) {
    int a[N + 1] = {0};
#pragma omp target map(tofrom : a)
#pragma omp parallel for
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return a[0];
}
