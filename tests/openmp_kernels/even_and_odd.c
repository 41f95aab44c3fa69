// Even elements are written, odd ones are read.
enum { N = 6 };
static int a[2 * N + 2];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[2 * i] = a[2 * i + 2]; // RACE!
#else
        a[2 * i] = a[2 * i + 1];
#endif
    return a[0];
}
