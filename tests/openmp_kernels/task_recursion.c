// A recursive sum.
static int calls;
static int sum(int n) {
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = sum(n - 1); // RACE!
    b = sum(n - 2);
#ifndef RACY
#pragma omp taskwait
#endif
    return a + b; // RACE!
}
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        calls = sum(3);
    }
    return 0;
}
