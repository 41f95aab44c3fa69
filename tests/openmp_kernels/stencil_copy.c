// A stencil from one array into another.
static int a[100], b[100];

int main(void) {
#pragma omp parallel for
    for (int i = 1; i < 99; i++)
#ifdef RACY
        a[i] = a[i - 1] + a[i] + a[i + 1]; // RACE!
#else
        b[i] = a[i - 1] + a[i] + a[i + 1];
#endif
    return 0;
}
