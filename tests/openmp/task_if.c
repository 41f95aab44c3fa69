// A task that is not deferred ends before its maker goes on; what it made itself need not have.
int main(void) {
    int first = 0, second = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task if (0) shared(first, second)
        {
            first = 1; // NORACE
#pragma omp task shared(second)
            second = 1; // RACE!
        }
        seen = first;
#ifdef RACY
#pragma omp taskwait
        seen += second; // RACE!
#endif
    }
    seen += second;
    return seen == 9;
}
