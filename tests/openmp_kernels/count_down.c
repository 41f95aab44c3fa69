// An unsigned index with a stride, from the end.
enum { N = 12 };
static unsigned a[N + 3];

int main(void) {
#pragma omp parallel for
    for (unsigned i = N; i >= 3; i -= 3)
#ifdef RACY
        a[i] = a[i - 3] + 1; // RACE!
#else
        a[i] = a[i - 1] + 1;
#endif
    return (int)a[0];
}
