// Configuration by ioctl under a mutex; the open counter is counted under the same mutex.
// raceproof static --entry cam_open,cam_ioctl --locks linux
#include "kernel.h"

static DEFINE_MUTEX(lock);
static int users, exposure, gain;

int cam_open(void) {
    mutex_lock(&lock);
    users++; // RACE!
    mutex_unlock(&lock);
#ifdef RACY
    if (users > 4) // RACE!
        return -1;
#endif
    return 0;
}

int cam_ioctl(int command, int value) {
    int old;
    mutex_lock(&lock);
    switch (command) {
    case 1:
        old = exposure; // NORACE
        exposure = value; // NORACE
        break;
    default:
        old = gain; // NORACE
        gain = value; // NORACE
    }
    mutex_unlock(&lock);
    return old;
}

#ifdef MODEL
THREADS(cam_open(), cam_ioctl(1, 20))
#endif
