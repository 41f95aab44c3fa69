// A temporary of a loop in lanes.
static float a[40], b[40];
int main(void) {
    float half;
#ifdef RACY
#pragma omp simd
#else
#pragma omp simd private(half)
#endif
    for (int i = 0; i < 40; i++) {
        half = a[i] / 2;   // RACE!
        b[i] = half * half; // RACE!
    }
    return b[0] > 1;
}
