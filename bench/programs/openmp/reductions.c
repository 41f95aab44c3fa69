// K reductions of one region.
static int sum;

int main(void) {
#pragma omp parallel
    for (int i = 0; i < K; i++) {
#pragma omp for reduction(+ : sum)
        for (int j = 0; j < 8; j++)
            sum += j;
    }
    return 0;
}
