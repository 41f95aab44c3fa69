// A task that uses the loop's variable by reference sees it change.
enum { N = 3 };
static int a[N + 1];

int main(void) {
#pragma omp parallel
#pragma omp single
    {
        int i;
        for (i = 0; i < N; i++) // RACE!
#ifdef RACY
#pragma omp task shared(i)
#else
#pragma omp task firstprivate(i)
#endif
            a[i] = 1; // RACE!
#pragma omp taskwait
    }
    return a[0] == 9;
}
