// Error paths: one of them forgets that the lock was given up.
// raceproof static --entry fw_load,fw_version --locks linux
#include "kernel.h"

static DEFINE_MUTEX(lock);
static int version, state;

int fw_load(int size) {
    int error = 0;
    mutex_lock(&lock);
    if (size > 100) {
        error = -1;
        goto out;
    }
    state = 1; // NORACE
    version++; // RACE!
out:
    mutex_unlock(&lock);
#ifdef RACY
    if (!error)
        version += size; // RACE!
#endif
    return error;
}

int fw_version(void) {
    mutex_lock(&lock);
    int v = state ? version : -1; // RACE!
    mutex_unlock(&lock);
    return v;
}

#ifdef MODEL
THREADS(fw_load(10), fw_version())
#endif
