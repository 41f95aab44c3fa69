// A 64-bit index.
static long a[101];

int main(void) {
#pragma omp parallel for
    for (long i = 0; i < 100; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
