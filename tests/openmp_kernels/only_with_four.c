// Threads share an element with the one three further on.
#include <omp.h>
#ifdef RACY
enum { SLOTS = 3 };
#else
enum { SLOTS = 1024 };
#endif
static int slots[SLOTS];

int main(void) {
#pragma omp parallel
    {
        int me = omp_get_thread_num();
        if (me < 1000)
            slots[me % SLOTS] = me; // RACE!
    }
    return slots[0] == 9;
}
