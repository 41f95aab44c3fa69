// A value that one thread gives to all.
static int total, x;
int main(void) {
#pragma omp parallel
    {
        int v;
#pragma omp single copyprivate(v)
        v = 7;
#ifndef RACY
#pragma omp atomic
#endif
        total += v; // RACE!
    }
    return 0;
}
