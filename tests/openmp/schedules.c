// Whatever the schedule, the type of the variable and the direction: every iteration is executed once.
#include <assert.h>

enum { N = 7 };

static int seen[N + 3];

static void count(int i) {
    assert(i >= 0 && i < N);
    seen[i]++; // NORACE
}

static void check(int times) {
    for (int i = 0; i < N; i++)
        assert(seen[i] == times);
}

int main(void) {
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < N; i++)
        count(i);
    check(1);
#pragma omp parallel for schedule(static, 2) num_threads(3)
    for (unsigned i = N; i > 0; i--)
        count(i - 1);
    check(2);
#pragma omp parallel for schedule(static, 10)
    for (long i = 0; i < N; i++)
        count(i);
    check(3);
#pragma omp parallel for schedule(runtime)
    for (unsigned long i = 0; i < 2 * N; i += 2)
        count(i / 2);
    check(4);
#pragma omp parallel for schedule(dynamic, 4)
    for (long i = -N; i < 0; i++)
        count(i + N);
    check(5);
    int sum = 0;
#pragma omp parallel for schedule(auto) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        sum += i;
    assert(sum == 21);
#pragma omp parallel for num_threads(3)
    for (int i = 0; i < 1; i++)
        count(i + N - 1);
    assert(seen[N - 1] == 6);
#ifdef RACY
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        seen[i % 2]--; // RACE!
#endif
    return 0;
}
