// A flag accessed with READ_ONCE and WRITE_ONCE only; the racy twin reads it plainly.
// raceproof static --entry gpu_reset,gpu_poll --locks linux
#include "kernel.h"

static int resetting;
static DEFINE_SPINLOCK(lock);
static int jobs;

void gpu_reset(void) {
    WRITE_ONCE(resetting, 1); // RACE!
    spin_lock(&lock);
    jobs = 0; // NORACE
    spin_unlock(&lock);
    WRITE_ONCE(resetting, 0); // RACE!
}

int gpu_poll(void) {
    int n = 0;
#ifdef RACY
    if (resetting) // RACE!
#else
    if (READ_ONCE(resetting)) // NORACE
#endif
        return -1;
    spin_lock(&lock);
    n = ++jobs; // NORACE
    spin_unlock(&lock);
    return n;
}

#ifdef MODEL
THREADS(gpu_reset(), gpu_poll())
#endif
