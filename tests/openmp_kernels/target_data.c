// Data is mapped around two target regions; the second one may run before the first has ended.
enum { N = 4 };

int main(void) {
    int a[N] = {0}, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp target data map(tofrom : a, sum)
    {
#ifdef RACY
#pragma omp target nowait map(tofrom : a)
#else
#pragma omp target map(tofrom : a)
#endif
        for (int i = 0; i < N; i++)
            a[i] = i; // RACE!
#pragma omp target map(tofrom : a, sum)
        for (int i = 0; i < N; i++)
            sum += a[i]; // RACE!
    }
    return sum == 99;
}
