// A recursion in tasks: both halves have to be waited for.
static int fibonacci(int n) {
    if (n < 2)
        return n;
    int a = 0, b = 0;
#pragma omp task shared(a) firstprivate(n)
    a = fibonacci(n - 1); // RACE!
#pragma omp task shared(b) firstprivate(n)
    b = fibonacci(n - 2); // RACE!
#ifndef RACY
#pragma omp taskwait
    return a + b;
#else
    int sum = a + b; // RACE!
#pragma omp taskwait
    return sum;
#endif
}

int main(void) {
    int result = 0;
#pragma omp parallel
#pragma omp single
    result = fibonacci(3);
    return result == 99;
}
