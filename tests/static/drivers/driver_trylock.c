// spin_trylock and mutex_trylock return 1 where the lock is held.
// raceproof static --entry wdt_kick,wdt_poll --locks linux
#include "kernel.h"

static DEFINE_SPINLOCK(lock);
static int kicks, polls;

void wdt_kick(void) {
    spin_lock(&lock);
    kicks++; // RACE!
    spin_unlock(&lock);
}

int wdt_poll(void) {
    int seen = -1;
#ifdef RACY
    if (!spin_trylock(&lock))
        return kicks; // RACE!
#else
    if (!spin_trylock(&lock))
        return seen;
#endif
    seen = kicks; // NORACE
    polls++; // NORACE
    spin_unlock(&lock);
    return seen;
}

#ifdef MODEL
THREADS(wdt_kick(), wdt_poll())
#endif
