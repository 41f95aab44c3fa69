// An unsigned index.
static int a[101];

int main(void) {
#pragma omp parallel for
    for (unsigned i = 0; i < 100; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = (int)i;
#endif
    return 0;
}
