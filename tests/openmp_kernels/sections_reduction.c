// Sections contribute to a sum, and the last one decides a value.
int main(void) {
    int sum = 0, last = 0;
#ifdef RACY
#pragma omp parallel sections lastprivate(last)
#else
#pragma omp parallel sections reduction(+ : sum) lastprivate(last)
#endif
    {
#pragma omp section
        {
            sum += 1; // RACE!
            last = 1;
        }
#pragma omp section
        {
            sum += 2; // RACE!
            last = 2;
        }
    }
    return sum + last == 99;
}
