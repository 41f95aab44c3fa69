// Each thread counts for itself; the counter has to be its own.
enum { N = 6 };
static int count;
#ifndef RACY
#pragma omp threadprivate(count)
#endif

int main(void) {
    int total = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++)
            count++; // RACE!
#pragma omp atomic
        total += count; // RACE!
    }
    return total == 99;
}
