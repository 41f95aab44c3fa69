// A loop is tiled and its tiles are shared out.
enum { N = 8 };
static int a[N + 1], b[N + 1];

int main(void) {
#pragma omp parallel for
#pragma omp tile sizes(2)
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        b[i] = a[i + 1];
#endif
    return b[0];
}
