// A loop that counts down.
static int a[100], b[100];

int main(void) {
#pragma omp parallel for
    for (int i = 99; i > 0; i--)
#ifdef RACY
        a[i] = a[i - 1]; // RACE!
#else
        a[i] = b[i - 1];
#endif
    return 0;
}
