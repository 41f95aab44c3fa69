// Appending in order.
// Shows: OpenMP: `ordered`
static int log[8], n;
int main(void) {
#pragma omp parallel for ordered schedule(dynamic)
    for (int i = 0; i < 4; i++) {
#ifndef RACY
#pragma omp ordered
#endif
        log[n++] = i; // RACE!
    }
    return 0;
}
