// Entry points that reach the data through a table of operations.
// raceproof static --entry blk_submit,blk_stop --locks linux
#include "kernel.h"

struct disk;

struct disk_operations {
    int (*start)(struct disk *);
    void (*stop)(struct disk *);
};

struct disk {
    const struct disk_operations *ops;
    spinlock_t lock;
    int in_flight;
    int stopped;
};

static int ram_start(struct disk *d) {
    spin_lock(&d->lock);
    int ok = !d->stopped; // RACE!
    d->in_flight += ok; // NORACE
    spin_unlock(&d->lock);
    return ok;
}

static void ram_stop(struct disk *d) {
#ifndef RACY
    spin_lock(&d->lock);
#endif
    d->stopped = 1; // RACE!
#ifndef RACY
    spin_unlock(&d->lock);
#endif
}

static const struct disk_operations ram_operations = {ram_start, ram_stop};
static struct disk disk = {.ops = &ram_operations, .lock = LOCK_UNLOCKED};

int blk_submit(void) {
    return disk.ops->start(&disk); // NORACE
}

void blk_stop(void) {
    disk.ops->stop(&disk); // NORACE
}

#ifdef MODEL
THREADS(blk_submit(), blk_stop())
#endif
