// A sum over the iterations of a loop in lanes.
static int a[40];
int main(void) {
    int sum = 0;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd reduction(+ : sum)
#endif
    for (int i = 0; i < 40; i++)
        sum += a[i]; // RACE!
    return sum;
}
