// Appending in order, in blocks.
static int log[16], n;
int main(void) {
#pragma omp parallel for ordered
    for (int i = 0; i < 10; i++) {
#ifndef RACY
#pragma omp ordered
#endif
        log[n++] = i; // RACE!
    }
    return 0;
}
