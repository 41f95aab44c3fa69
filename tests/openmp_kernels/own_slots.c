// A slot for each thread.
#include <omp.h>
static long s[128];
int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#ifdef RACY
        me /= 2;
#endif
        for (int i = 0; i < 10; i++)
            s[me] += i; // RACE!
    }
    return 0;
}
