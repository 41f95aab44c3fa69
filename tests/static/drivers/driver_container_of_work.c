// A work item inside the device: the handler gets the item and finds the device.
// raceproof static --entry scan_work,scan_request --locks linux
#include "kernel.h"

struct work {
    int scheduled;
};

struct radio {
    struct mutex lock;
    int channel;
    int scans;
    struct work work;
};

void scan_work(struct work *w) {
    struct radio *r = container_of(w, struct radio, work);
    mutex_lock(&r->lock);
    r->channel++; // RACE!
    r->scans++; // NORACE
    mutex_unlock(&r->lock);
}

int scan_request(struct radio *r) {
#ifdef RACY
    int channel = r->channel; // RACE!
#else
    mutex_lock(&r->lock);
    int channel = r->channel; // NORACE
    mutex_unlock(&r->lock);
#endif
    return channel;
}

#ifdef MODEL
static struct radio model = {LOCK_UNLOCKED, 1, 0, {0}};
THREADS(scan_work(&model.work), scan_request(&model))
#endif
