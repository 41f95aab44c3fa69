// A variable from outside of the region is shared unless it is made private.
enum { N = 4 };

int main(void) {
    int a[N], half;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for private(half)
#endif
    for (int i = 0; i < N; i++) {
        half = i / 2; // RACE!
        a[i] = half;  // RACE!
    }
    return a[0] == 9;
}
