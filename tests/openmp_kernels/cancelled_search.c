// A search that ends the loop when it has found something.
enum { N = 4 };
static int a[N] = {1, 7, 7, 2};

int main(void) {
    int found = -1;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++) {
            if (a[i] == 7) {
#ifndef RACY
#pragma omp atomic write
#endif
                found = i; // RACE!
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
    return found == 99;
}
