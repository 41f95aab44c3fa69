// Each element takes the value of the next one. In place, an iteration reads what the next one writes.
enum { N = 12 };

int main(void) {
    int a[N + 1], b[N + 1];
    for (int i = 0; i <= N; i++)
        a[i] = b[i] = i;
#pragma omp parallel for
    for (int i = 0; i < N; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        b[i] = a[i + 1];
#endif
    return a[0] + b[0] == 99;
}
