// mutex_lock_interruptible returns 0 where the mutex is held; the error path must not touch the data.
// raceproof static --entry led_set,led_get --locks linux
#include "kernel.h"

static DEFINE_MUTEX(lock);
static int brightness, failures;

int led_set(int value) {
    if (mutex_lock_interruptible(&lock)) {
        return -4;
    }
    brightness = value; // RACE!
    mutex_unlock(&lock);
    return 0;
}

int led_get(void) {
    int value = -1;
#ifdef RACY
    int failed = mutex_lock_interruptible(&lock);
    if (!failed)
        mutex_unlock(&lock);
    value = brightness; // RACE!
#else
    if (mutex_lock_interruptible(&lock) == 0) {
        value = brightness + failures; // NORACE
        mutex_unlock(&lock);
    }
#endif
    return value;
}

#ifdef MODEL
THREADS(led_set(3), led_get())
#endif
