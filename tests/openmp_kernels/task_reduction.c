// Tasks contribute to a sum of their group.
enum { N = 3 };

int main(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
#pragma omp taskgroup
#else
#pragma omp taskgroup task_reduction(+ : sum)
#endif
        for (int i = 0; i < N; i++)
#ifdef RACY
#pragma omp task shared(sum) firstprivate(i)
#else
#pragma omp task in_reduction(+ : sum) firstprivate(i)
#endif
            sum += i; // RACE!
    }
    return sum == 9;
}
