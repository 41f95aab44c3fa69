// One half from the other.
static int a[101];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 50; i++)
#ifdef RACY
        a[i] = a[i + 49]; // RACE!
#else
        a[i] = a[i + 50];
#endif
    return 0;
}
