// K chunks that the threads of a team take.
static int a[K];

int main(void) {
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < K; i++)
        a[i] = i;
    return 0;
}
