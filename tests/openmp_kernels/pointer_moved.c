// A pointer that a region changes.
static int a[100], *p = a;
int main(void) {
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 8; i++) {
#ifdef RACY
        if (i == 3)
            p = a + 1; // RACE!
#endif
        p[i] = i; // RACE!
    }
    return 0;
}
