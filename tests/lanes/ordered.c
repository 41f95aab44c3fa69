// Iterations execute this part in turn.
static int g, a[50];
int main(void) {
#pragma omp simd
    for (int i = 0; i < 50; i++) {
        a[i] = i;
#ifndef RACY
#pragma omp ordered simd
#endif
        {
            g++; // RACE!
        }
    }
    return g;
}
