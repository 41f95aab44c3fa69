// A reader-writer semaphore around the state of a file system.
// raceproof static --entry fs_read,fs_resize --locks linux
#include "kernel.h"

struct volume {
    struct rw_semaphore sem;
    long blocks;
    long free_blocks;
};

long fs_read(struct volume *v, long block) {
    long result = -1;
    down_read(&v->sem);
    if (block < v->blocks) // RACE!
        result = v->free_blocks; // NORACE
    up_read(&v->sem);
    return result;
}

void fs_resize(struct volume *v, long blocks) {
    down_write(&v->sem);
    v->free_blocks += blocks; // NORACE
#ifndef RACY
    v->blocks += blocks; // NORACE
#endif
    up_write(&v->sem);
#ifdef RACY
    v->blocks += blocks; // RACE!
#endif
}

#ifdef MODEL
static struct volume model = {RWLOCK_UNLOCKED, 100, 50};
THREADS(fs_read(&model, 7), fs_resize(&model, 10))
#endif
