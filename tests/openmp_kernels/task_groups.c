// A group of tasks.
static int x, a[3];
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#ifndef RACY
#pragma omp taskgroup
#endif
        {
            for (int i = 0; i < 3; i++)
#pragma omp task
#pragma omp task
                a[i]++; // RACE!
        }
        for (int i = 0; i < 3; i++)
            x += a[i]; // RACE!
    }
    return 0;
}
