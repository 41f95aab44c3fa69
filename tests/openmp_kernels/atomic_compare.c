// The smallest value by an atomic comparison.
enum { N = 4 };
static int a[N] = {7, 3, 5, 4}, least = 9;

int main(void) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        int value = a[i];
#ifndef RACY
#pragma omp atomic compare
#endif
        if (value < least) { // RACE!
            least = value;   // RACE!
        }
    }
    return least == 9;
}
