// Lanes run together: an element must not depend on one that is in the same group of lanes.
enum { N = 16 };
static int a[N + 8];

int main(void) {
#ifdef RACY
#pragma omp simd
    for (int i = 0; i < N; i++)
        a[i + 2] = a[i] + 1; // RACE!
#else
#pragma omp simd safelen(4)
    for (int i = 0; i < N; i++)
        a[i + 8] = a[i] + 1;
#endif
    return a[0];
}
