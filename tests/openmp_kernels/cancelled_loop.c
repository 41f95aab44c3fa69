// A loop that may be cancelled.
static int a[20], found;
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 16; i++) {
        if (a[i]) {
#pragma omp cancel for
        }
#ifdef RACY
        found = i; // RACE!
#else
        a[i] = i;
#endif
    }
    return 0;
}
