// Chunks of threads are apart, iterations of one chunk are not.
static int a[40];
int main(void) {
#pragma omp parallel for simd schedule(static, 10) num_threads(2)
    for (int i = 0; i < 40; i++)
#ifdef RACY
        if (i % 10 != 9)
            a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
