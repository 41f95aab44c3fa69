// Untied tasks with priorities.
static int x, y;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task untied priority(2)
        x++; // RACE!
#pragma omp task untied priority(1)
#ifdef RACY
        x++; // RACE!
#else
        y++;
#endif
    }
    return 0;
}
