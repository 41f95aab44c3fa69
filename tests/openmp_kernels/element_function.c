// A function for each element.
static int a[16];
static void add(int *p) {
    *p += 1; // RACE!
}
int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 16; i++)
#ifdef RACY
        add(&a[i / 2]);
#else
        add(&a[i]);
#endif
    return 0;
}
