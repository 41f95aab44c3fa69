// A loop for threads and lanes.
static int a[41];
int main(void) {
#pragma omp parallel for simd
    for (int i = 0; i < 40; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
