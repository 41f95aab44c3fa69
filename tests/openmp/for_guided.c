// Chunks that become smaller: the same iteration is never executed twice.
enum { N = 5 };

int main(void) {
    int a[N + 1] = {0};
#pragma omp parallel for schedule(guided)
    for (int i = 0; i < N; i++) {
        a[i] += i; // RACE!
#ifdef RACY
        a[i + 1] = 0; // RACE!
#endif
    }
    return a[1] == 9;
}
