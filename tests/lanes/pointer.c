// A local that a pointer leads to, which would be a register.
static int a[40];
int main(void) {
    int s = 0, u = 0;
    int *p = a[3] ? &s : &u;
    int **q = &p;
#pragma omp simd
    for (int i = 0; i < 40; i++)
#ifdef RACY
        **q = a[i]; // RACE!
#else
        a[i] = **q;
#endif
    return s;
}
