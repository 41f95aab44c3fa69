// Multiples are crossed out. All write the same value, which is a race all the same.
enum { N = 16 };
static char crossed[N + 1];

int main(void) {
#ifdef RACY
#pragma omp parallel for schedule(static, 1)
    for (int i = 2; i <= N / 2; i++)
        for (int j = 2 * i; j <= N; j += i)
            crossed[j] = 1; // RACE!
#else
    for (int i = 2; i <= N / 2; i++)
#pragma omp parallel for
        for (int j = 2; j <= N; j++)
            if (j > i && j % i == 0)
                crossed[j] = 1;
#endif
    return crossed[2];
}
