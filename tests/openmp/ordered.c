// The ordered parts of iterations come one after the other.
enum { N = 3 };

int main(void) {
    int sum = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < N; i++) {
        int square = i * i;
#ifndef RACY
#pragma omp ordered
#endif
        sum = 2 * sum + square; // RACE!
#ifdef RACY
#pragma omp ordered
        square++;
#endif
    }
    return sum == 9;
}
