// Reads through an index.
static int a[40], b[40], at[40];

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < 40; i++)
#ifdef RACY
        b[at[i]] = a[i]; // RACE!
#else
        b[i] = a[at[i]];
#endif
    return 0;
}
