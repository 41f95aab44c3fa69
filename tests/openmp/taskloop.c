// The iterations of a taskloop are tasks, and it waits for them.
enum { N = 3 };

int main(void) {
    int a[N] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
#pragma omp taskloop num_tasks(3) shared(a) nogroup
#else
#pragma omp taskloop num_tasks(3) shared(a)
#endif
        for (int i = 0; i < N; i++)
            a[i] = i; // RACE!
        sum = a[0] + a[1]; // RACE!
    }
    return sum == 9;
}
