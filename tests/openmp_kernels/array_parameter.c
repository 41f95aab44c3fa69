// An array that a function is given.
static int a[51];
static void fill(int *p, int n) {
#pragma omp parallel for
    for (int i = 0; i < n; i++)
#ifdef RACY
        p[i] = p[i + 1]; // RACE!
#else
        p[i] = i;
#endif
}
int main(void) {
    fill(a, 50);
    return 0;
}
