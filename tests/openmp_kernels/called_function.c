// A function that is called in the region changes a global.
enum { N = 4 };
static int calls;

static int twice(int x) {
#ifndef RACY
#pragma omp atomic
#endif
    calls++; // RACE!
    return 2 * x;
}

int main(void) {
    int a[N];
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        a[i] = twice(i);
    return a[0] + calls == 9;
}
