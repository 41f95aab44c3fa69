// Many chunks that threads take.
static int a[201];

int main(void) {
#pragma omp parallel for schedule(dynamic, 4)
    for (int i = 0; i < 200; i++)
#ifdef RACY
        a[i / 8] = i; // RACE!
#else
        a[i] = i;
#endif
    return 0;
}
