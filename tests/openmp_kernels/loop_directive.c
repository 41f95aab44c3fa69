// A loop whose iterations may run in any order, together.
enum { N = 6 };
static int a[N + 1], b[N + 1];

int main(void) {
#pragma omp parallel
#pragma omp loop
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i + 1] = a[i]; // RACE!
#else
        b[i + 1] = a[i];
#endif
    return b[0];
}
