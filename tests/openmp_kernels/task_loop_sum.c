// A sum over a loop made of tasks.
enum { N = 4 };

int main(void) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
#ifdef RACY
#pragma omp taskloop num_tasks(2) shared(sum)
#else
#pragma omp taskloop num_tasks(2) reduction(+ : sum)
#endif
    for (int i = 0; i < N; i++)
        sum += i; // RACE!
    return sum == 99;
}
