// Tasks in a final task.
static int x;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#ifdef RACY
#pragma omp task final(0) mergeable
#else
#pragma omp task final(1) mergeable
#endif
        {
#pragma omp task
            x++; // RACE!
            x++; // RACE!
        }
    }
    return 0;
}
