// A schedule that is chosen at run time.
static int a[101];

int main(void) {
#pragma omp parallel for schedule(runtime)
    for (int i = 0; i < 100; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
