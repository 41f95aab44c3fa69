// An index from an atomic counter.
static int n, a[128];
int main(void) {
#pragma omp parallel
    {
        int at;
#ifdef RACY
        at = n++; // RACE!
#else
#pragma omp atomic capture
        at = n++;
#endif
        a[at & 127] = 1; // RACE!
    }
    return 0;
}
