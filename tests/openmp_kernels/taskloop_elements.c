// Pieces of a loop as tasks.
static int a[12];
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp taskloop grainsize(3)
        for (int i = 0; i < 11; i++)
#ifdef RACY
            a[i] = a[i + 1]; // RACE!
#else
            a[i] = i;
#endif
    }
    return 0;
}
