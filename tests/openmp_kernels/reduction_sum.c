// A sum.
static int a[60], sum;
int main(void) {
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(+ : sum)
#endif
    for (int i = 0; i < 60; i++)
        sum += a[i]; // RACE!
    return 0;
}
