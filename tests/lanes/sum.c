// A sum that lanes share, or that each has for itself until the end.
static int a[100];
int main(void) {
    int sum = 0;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd reduction(+ : sum)
#endif
    for (int i = 0; i < 100; i++)
        sum += a[i]; // RACE!
    return sum;
}
