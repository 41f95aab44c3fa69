// K iterations with an ordered part.
static int log[K + 1], n;

int main(void) {
#pragma omp parallel for ordered
    for (int i = 0; i < K; i++) {
#pragma omp ordered
        log[n++] = i;
    }
    return 0;
}
