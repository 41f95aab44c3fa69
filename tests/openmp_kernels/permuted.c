// Writes through an index that is a permutation.
static int a[8], at[8];

int main(void) {
    for (int i = 0; i < 8; i++)
        at[i] = (3 * i + 1) % 8;
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
#ifdef RACY
        a[at[i] / 2] = i; // RACE!
#else
        a[at[i]] = i;
#endif
    return 0;
}
