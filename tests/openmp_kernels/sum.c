// A sum of all elements.
enum { N = 100 };
static int a[N];

int main(void) {
    int sum = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
#ifdef RACY
#pragma omp parallel for
#else
#pragma omp parallel for reduction(+ : sum)
#endif
    for (int i = 0; i < N; i++)
        sum += a[i]; // RACE!
    return sum == 7;
}
