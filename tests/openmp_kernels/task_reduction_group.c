// A reduction by tasks.
// Shows: OpenMP: reductions of tasks
static int sum;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskgroup task_reduction(+ : sum)
        for (int i = 0; i < 3; i++)
#ifdef RACY
#pragma omp task shared(sum)
#else
#pragma omp task in_reduction(+ : sum)
#endif
            sum += i; // RACE!
    }
    return 0;
}
