// Neighbouring bytes.
static char a[101];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 100; i++)
#ifdef RACY
        a[i] = a[i + 1]; // RACE!
#else
        a[i] = 1;
#endif
    return 0;
}
