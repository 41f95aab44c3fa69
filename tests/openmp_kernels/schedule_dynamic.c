// Chunks that threads take.
static int a[12];

int main(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 1; i < 11; i++)
#ifdef RACY
        a[i] = a[i - 1]; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
