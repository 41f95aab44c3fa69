// Only one thread writes.
static int x;
int main(void) {
#pragma omp parallel num_threads(3)
    {
#pragma omp masked filter(1)
        x++; // RACE!
#ifdef RACY
#pragma omp masked filter(2)
        x++; // RACE!
#else
#pragma omp masked filter(1)
        x++;
#endif
    }
    return 0;
}
