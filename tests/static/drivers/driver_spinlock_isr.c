// A character device: the write entry fills a buffer that the interrupt handler drains.
// raceproof static --entry dev_write,dev_interrupt --locks linux
#include "kernel.h"

static DEFINE_SPINLOCK(lock);
static char buffer[8];
static unsigned used, sent;

int dev_write(char c) {
    unsigned long flags = 0;
    int room;
    spin_lock_irqsave(&lock, flags);
    room = used < sizeof buffer; // RACE!
    if (room)
        buffer[used++ % 8] = c; // RACE!
    spin_unlock_irqrestore(&lock, flags);
    return room;
}

void dev_interrupt(void) {
#ifndef RACY
    spin_lock(&lock);
#endif
    if (used > 0) { // RACE!
        used--; // RACE!
        sent++; // RACE!
    }
#ifndef RACY
    spin_unlock(&lock);
#endif
}

#ifdef MODEL
THREADS(dev_write('x'), dev_interrupt())
#endif
