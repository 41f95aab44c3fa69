// A matrix in one dimension: with a row too short, neighbouring rows overlap.
enum { N = 5, M = 4 };
#ifdef RACY
enum { WIDTH = M - 1 };
#else
enum { WIDTH = M };
#endif
static int a[N * M];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            a[i * WIDTH + j] = i; // RACE!
    return a[0];
}
