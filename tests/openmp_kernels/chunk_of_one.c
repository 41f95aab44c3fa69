// Two neighbouring iterations write one element; whether they are one thread's depends on the chunks.
enum { N = 8 };
static int a[N / 2];

int main(void) {
#ifdef RACY
#pragma omp parallel for schedule(static, 1)
#else
#pragma omp parallel for schedule(static, 2)
#endif
    for (int i = 0; i < N; i++)
        a[i / 2] += i; // RACE!
    return a[0] == 9;
}
