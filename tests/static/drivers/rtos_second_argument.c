// A lock specification of one's own: the lock is the second argument.
// raceproof static --entry feed,drain --locks rtos.toml
#include "rtos.h"

static struct os_mutex queue_lock = OS_MUTEX, other_lock = OS_MUTEX;
static int queue;

void feed(void) {
    os_take_for(1, &queue_lock);
    queue++; // RACE!
    os_give_for(1, &queue_lock);
}

void drain(void) {
#ifdef RACY
    os_take_for(1, &other_lock);
    queue = 0; // RACE!
    os_give_for(1, &other_lock);
#else
    os_take_for(2, &queue_lock);
    queue = 0; // NORACE
    os_give_for(2, &queue_lock);
    (void)other_lock;
#endif
}

#ifdef MODEL
THREADS(feed(), drain())
#endif
