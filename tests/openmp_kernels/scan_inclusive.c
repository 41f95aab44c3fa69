// Sums of all beginnings.
static int a[16], b[16];
int main(void) {
    int s = 0;
#ifdef RACY
#pragma omp parallel for
    for (int i = 0; i < 16; i++) {
        s += a[i]; // RACE!
        b[i] = s; // RACE!
    }
#else
#pragma omp parallel for reduction(inscan, + : s)
    for (int i = 0; i < 16; i++) {
        s += a[i];
#pragma omp scan inclusive(s)
        b[i] = s;
    }
#endif
    return 0;
}
