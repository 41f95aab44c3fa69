// A flag needs atomic accesses: a flush alone does not make a plain one safe.
#include <omp.h>

int main(void) {
    int flag = 0, data = 0, seen = 0;
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            data = 1; // RACE!
#ifdef RACY
#pragma omp flush
            flag = 1; // RACE!
#else
#pragma omp atomic write release
            flag = 1;
#endif
        } else {
            int ready;
#ifdef RACY
            ready = flag; // RACE!
#pragma omp flush
#else
#pragma omp atomic read acquire
            ready = flag;
#endif
            if (ready)
                seen = data; // RACE!
        }
    }
    return seen == 9;
}
