// Only a third thread collides.
#include <omp.h>
static int a[4];
int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
#ifdef RACY
        a[me % 2]++; // RACE!
#else
        if (me < 4)
            a[me]++;
#endif
    }
    return 0;
}
