// Copies start with the value; a pointer's copy points to the same memory.
enum { N = 2 };

int main(void) {
    int base = 5, out[N];
    int *cell = &base;
#pragma omp parallel for firstprivate(cell) shared(out)
    for (int i = 0; i < N; i++) {
#ifdef RACY
        *cell += i;     // RACE!
        out[i] = *cell; // RACE!
#else
        out[i] = *cell + i;
#endif
    }
    return out[0] == 9;
}
