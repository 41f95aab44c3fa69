// An index that moves with the loop.
enum { N = 8 };
static int a[2 * N];

int main(void) {
    int at = 0;
#ifdef RACY
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        a[at] = i; // RACE!
        at += 2;   // RACE!
    }
#else
#pragma omp simd linear(at : 2)
    for (int i = 0; i < N; i++) {
        a[at] = i;
        at += 2;
    }
#endif
    return a[0];
}
