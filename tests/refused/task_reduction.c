// flags: -fopenmp
// Shows: OpenMP: reductions of tasks
int main(void) {
    int sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum) // REFUSED `task_reduction`
    {
#pragma omp task in_reduction(+ : sum)
        sum += 1;
#pragma omp task in_reduction(+ : sum)
        sum += 2;
    }
    return sum;
}
