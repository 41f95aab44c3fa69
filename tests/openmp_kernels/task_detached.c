// A task that is complete when an event says so.
// Shows: OpenMP: `detach` and events
#include <omp.h>
static int x, y;
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : y)
        x = 1; // RACE!
#pragma omp task
        {
            y = 2; // RACE!
            omp_fulfill_event(event);
        }
#ifdef RACY
#pragma omp task depend(in : x)
#else
#pragma omp task depend(in : y)
#endif
        x = y; // RACE!
    }
    return 0;
}
