// A group waits for grandchildren, too; waiting for children does not.
int main(void) {
    int x = 0, copy = 0;
#pragma omp parallel
#pragma omp single
    {
#ifdef RACY
#pragma omp task shared(x)
#pragma omp task shared(x)
        x = 1; // RACE!
#pragma omp taskwait
#else
#pragma omp taskgroup
        {
#pragma omp task shared(x)
#pragma omp task shared(x)
            x = 1;
        }
#endif
        copy = x; // RACE!
    }
    return copy == 9;
}
