// Steps of three.
static int a[103];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 99; i += 3)
#ifdef RACY
        a[i] = a[i + 1] + a[i + 3]; // RACE!
#else
        a[i] = a[i + 1] + a[i + 2];
#endif
    return 0;
}
