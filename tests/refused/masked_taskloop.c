// flags: -fopenmp
// Shows: OpenMP: a directive that clang makes no code of
static int a[8];

int main(void) {
    a[0] = 1; // REFUSED masked taskloop
#pragma omp parallel masked taskloop
    for (int i = 0; i < 8; i++)
        a[i / 2] = i;
    return 0;
}
