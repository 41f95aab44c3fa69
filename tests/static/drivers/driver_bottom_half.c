// The interrupt handler queues work; the bottom half handles it. Both lock, in their ways.
// raceproof static --entry uart_interrupt,uart_bottom_half --locks linux
#include "kernel.h"

struct uart {
    spinlock_t lock;
    int pending;
    int handled;
    int overruns;
};

static struct uart uart = {.lock = LOCK_UNLOCKED};

void uart_interrupt(void) {
    spin_lock(&uart.lock);
    if (uart.pending > 0) // NORACE
        uart.overruns++; // RACE!
    uart.pending++; // NORACE
    spin_unlock(&uart.lock);
}

int uart_bottom_half(void) {
    spin_lock_bh(&uart.lock);
    int n = uart.pending; // NORACE
    uart.pending = 0; // NORACE
    uart.handled += n; // NORACE
#ifndef RACY
    uart.overruns = 0; // NORACE
#endif
    spin_unlock_bh(&uart.lock);
#ifdef RACY
    uart.overruns = 0; // RACE!
#endif
    return n;
}

#ifdef MODEL
THREADS(uart_interrupt(), uart_bottom_half())
#endif
