// Writes through indices: they are a permutation, or two are equal.
enum { N = 6 };
#ifdef RACY
static int to[N] = {5, 3, 1, 0, 2, 5};
#else
static int to[N] = {5, 3, 1, 0, 2, 4};
#endif
static int a[N];

int main(void) {
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < N; i++)
        a[to[i]] = i; // RACE!
    return a[0] == 9;
}
