// A region with one thread.
static int x;
int main(void) {
#ifdef RACY
#pragma omp parallel if (1)
#else
#pragma omp parallel if (0)
#endif
    x++; // RACE!
    return 0;
}
