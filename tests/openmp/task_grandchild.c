// A taskwait waits for children, not for their children; a taskgroup waits for all.
int main(void) {
    int deep = 0, seen = 0;
#pragma omp parallel
#pragma omp single
    {
#ifndef RACY
#pragma omp taskgroup
#endif
        {
#pragma omp task shared(deep)
            {
#pragma omp task shared(deep)
                deep = 1; // RACE!
            }
        }
#pragma omp taskwait
        seen = deep; // RACE!
    }
    return seen == 9;
}
