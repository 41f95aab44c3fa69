// A task that is discarded with its group has not happened; one that has started goes on beside the others.
static int started, x;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task
        {
#ifdef RACY
            x = 1; // RACE!
#endif
#pragma omp cancel taskgroup
            started = 1;
        }
#pragma omp task
        {
            x = 2; // RACE!
#pragma omp cancellation point taskgroup
            started = 2;
        }
    }
    return started;
}
