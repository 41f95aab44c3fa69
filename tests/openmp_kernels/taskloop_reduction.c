// A reduction by pieces of a loop.
static int sum;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#ifdef RACY
#pragma omp taskloop num_tasks(3)
#else
#pragma omp taskloop num_tasks(3) reduction(+ : sum)
#endif
        for (int i = 0; i < 6; i++)
            sum += i; // RACE!
    }
    return 0;
}
