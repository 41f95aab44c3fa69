// K barriers, and a slot for each thread between them.
#include <omp.h>

static int a[128];

int main(void) {
#pragma omp parallel
    for (int i = 0; i < K; i++) {
        a[omp_get_thread_num()] += i;
#pragma omp barrier
    }
    return 0;
}
