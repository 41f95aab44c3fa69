// Sections run at the same time.
// Shows: OpenMP: sections
int main(void) {
    int left = 0, right = 0;
#pragma omp parallel sections
    {
#pragma omp section
        {
            left = 1; // RACE!
#ifndef RACY
        }
#pragma omp section
        {
#endif
            right = 1; // RACE!
        }
#ifdef RACY
#pragma omp section
        {
            right = left + 1; // RACE!
        }
#endif
    }
    return left + right == 9;
}
