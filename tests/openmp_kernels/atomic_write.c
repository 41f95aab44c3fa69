// Atomic writes.
static int n;
int main(void) {
#pragma omp parallel
    {
#ifndef RACY
#pragma omp atomic write
#endif
        n = 3; // RACE!
    }
    return 0;
}
