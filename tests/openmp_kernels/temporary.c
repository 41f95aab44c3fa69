// A variable that is used within an iteration only.
enum { N = 10 };

int main(void) {
    int a[N], t = 0;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for private(t)
#endif
    for (int i = 0; i < N; i++) {
        t = i * i;    // RACE!
        a[i] = t + 1; // RACE!
    }
    return a[3] == 99;
}
