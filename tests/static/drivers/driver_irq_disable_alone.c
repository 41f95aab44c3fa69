// Disabling interrupts keeps the own processor's handler out, not another processor.
// raceproof static --entry timer_start,timer_tick --locks linux
#include "kernel.h"

static DEFINE_SPINLOCK(lock);
static int ticks, started;

void timer_start(void) {
#ifdef RACY
    local_irq_disable();
    started = 1; // RACE!
    ticks = 0; // RACE!
    local_irq_enable();
#else
    spin_lock_irq(&lock);
    started = 1; // NORACE
    ticks = 0; // NORACE
    spin_unlock_irq(&lock);
#endif
}

int timer_tick(void) {
    int now = 0;
    spin_lock_irq(&lock);
    if (started) // RACE!
        now = ++ticks; // RACE!
    spin_unlock_irq(&lock);
    return now;
}

#ifdef MODEL
THREADS(timer_start(), timer_tick())
#endif
