// Each thread adds up its part; one thread adds the parts when all are there.
#include <omp.h>
enum { N = 8, MOST = 64 };
static int parts[MOST], total;

int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num(), sum = 0;
#ifdef RACY
#pragma omp for nowait
#else
#pragma omp for
#endif
        for (int i = 0; i < N; i++) {
            sum += i;
            if (me < MOST)
                parts[me] = sum; // RACE!
        }
#pragma omp master
        for (int t = 0; t < omp_get_num_threads() && t < MOST; t++)
            total += parts[t]; // RACE!
    }
    return total == 99;
}
