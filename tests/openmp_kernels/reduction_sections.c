// A sum of sections.
static int sum;
int main(void) {
#ifdef RACY
#pragma omp parallel sections
#else
#pragma omp parallel sections reduction(+ : sum)
#endif
    {
#pragma omp section
        sum += 1; // RACE!
#pragma omp section
        sum += 2; // RACE!
    }
    return 0;
}
