// Two elements of each iteration.
static int a[202];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#ifdef RACY
        a[2 * i] = a[2 * i + 2]; // RACE!
#else
        a[2 * i] = a[2 * i + 1];
#endif
    return 0;
}
