// Threads and lanes: iterations are independent, or neighbours depend on each other.
enum { N = 8 };
static float a[N + 1], b[N + 1];

int main(void) {
#pragma omp parallel for simd
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i] = a[i + 1] * 2; // RACE!
#else
        a[i] = b[i + 1] * 2;
#endif
    return a[0] > 1;
}
