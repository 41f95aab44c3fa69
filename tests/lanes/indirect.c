// A function that is called through a pointer.
static int g, a[20];
static void fill(int i) {
#ifdef RACY
    g = i; // RACE!
#endif
    a[i] = i + g; // RACE!
}
static void (*volatile chosen)(int);
int main(void) {
    chosen = fill;
#pragma omp simd
    for (int i = 0; i < 20; i++)
        chosen(i);
    return 0;
}
