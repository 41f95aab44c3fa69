// A loop made of tasks; it waits for them unless told not to.
enum { N = 4 };
static int a[N];

int main(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
#pragma omp taskloop grainsize(2) nogroup
#else
#pragma omp taskloop grainsize(2)
#endif
        for (int i = 0; i < N; i++)
            a[i] = i; // RACE!
        for (int i = 0; i < N; i++)
            sum += a[i]; // RACE!
    }
    return sum == 99;
}
