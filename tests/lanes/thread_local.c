// Lanes of one thread share its thread-local variables.
static _Thread_local int t;
static int a[40];
int main(void) {
#pragma omp simd
    for (int i = 0; i < 40; i++) {
#ifdef RACY
        t = i;    // RACE!
#endif
        a[i] = t; // RACE!
    }
    return a[3];
}
