// $ raceproof check lanes.c --cflags=-fopenmp
// Iterations that may run at the same time use one temporary.
static float in[16], out[16];

int main(void) {
    float half;
#pragma omp simd
    for (int i = 0; i < 16; i++) {
        half = in[i] / 2;
        out[i] = half * half;
    }
    return 0;
}
