// Two tasks of one parent run at the same time.
int main(void) {
    int left = 0, right = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(left)
        left = 1; // RACE!
#ifdef RACY
#pragma omp task shared(left, right)
        right = left; // RACE!
#else
#pragma omp task shared(right)
        right = 1;
#endif
    }
    return left + right == 9;
}
