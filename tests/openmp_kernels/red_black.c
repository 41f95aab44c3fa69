// A relaxation in two colours: neighbours have the other colour.
enum { N = 9 };
static int a[N + 1];

int main(void) {
#ifdef RACY
#pragma omp parallel for
    for (int i = 1; i < N; i++)
        a[i] = (a[i - 1] + a[i + 1]) / 2; // RACE!
#else
    for (int colour = 0; colour < 2; colour++)
#pragma omp parallel for
        for (int i = 1 + colour; i < N; i += 2)
            a[i] = (a[i - 1] + a[i + 1]) / 2;
#endif
    return a[1];
}
