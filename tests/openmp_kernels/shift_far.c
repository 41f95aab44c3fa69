// Elements are moved by half of the array: no iteration reads what another writes, unless they are moved by less.
enum { N = 8 };
#ifdef RACY
enum { BY = N - 1 };
#else
enum { BY = N };
#endif
static int a[2 * N];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i + BY] = a[i] + 1; // RACE!
    return a[0];
}
