// One array backwards into another.
static int a[100], b[100];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#ifdef RACY
        a[i] = a[99 - i]; // RACE!
#else
        a[i] = b[99 - i];
#endif
    return 0;
}
