// Part of an iteration runs in the order of the loop.
enum { N = 4 };
static int log[N], used;

int main(void) {
#pragma omp parallel for ordered
    for (int i = 0; i < N; i++) {
#ifdef RACY
        log[used++] = i; // RACE!
#else
#pragma omp ordered
        log[used++] = i;
#endif
    }
    return log[0];
}
