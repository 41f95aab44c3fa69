// Only a ninth thread collides.
#include <omp.h>
static int a[8];
int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#ifdef RACY
        a[me % 8]++; // RACE!
#else
        if (me < 8)
            a[me]++;
#endif
    }
    return 0;
}
