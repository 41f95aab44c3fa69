// A lock specification of one's own: a try function that returns nonzero where it holds.
// raceproof static --entry log_write,log_flush --locks rtos.toml
#include "rtos.h"

static struct os_mutex lock = OS_MUTEX;
static int lines, dropped;

void log_write(void) {
    if (os_mutex_poll(&lock)) {
        lines++; // NORACE
        os_mutex_give(&lock);
    }
#ifdef RACY
    else
        dropped++; // RACE!
#endif
}

int log_flush(void) {
    os_mutex_take(&lock);
    int n = lines + dropped; // RACE!
    lines = 0; // NORACE
    os_mutex_give(&lock);
    return n;
}

#ifdef MODEL
THREADS(log_write(), log_flush())
#endif
