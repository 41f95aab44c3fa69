// A reduction by the tasks of a region.
static int sum;
int main(void) {
#pragma omp parallel num_threads(2) reduction(task, + : sum)
    {
#ifdef RACY
#pragma omp task shared(sum)
        sum += 1; // RACE!
#else
#pragma omp task in_reduction(+ : sum)
        sum += 1;
#endif
        sum += 2; // RACE!
    }
    return 0;
}
