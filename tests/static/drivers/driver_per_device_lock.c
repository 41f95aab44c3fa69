// Each device has its lock; the entry points get the device as a parameter.
// raceproof static --entry nic_send,nic_stats --locks linux
#include "kernel.h"

struct nic {
    spinlock_t lock;
    int mtu;
    long packets;
    long bytes;
};

void nic_send(struct nic *nic, int length) {
    spin_lock(&nic->lock);
    nic->packets++; // RACE!
    nic->bytes += length; // NORACE
    spin_unlock(&nic->lock);
}

long nic_stats(struct nic *nic) {
#ifdef RACY
    return nic->packets * nic->mtu; // RACE!
#else
    spin_lock(&nic->lock);
    long packets = nic->packets; // NORACE
    spin_unlock(&nic->lock);
    return packets * nic->mtu; // NORACE
#endif
}

#ifdef MODEL
static struct nic model = {LOCK_UNLOCKED, 1500, 0, 0};
THREADS(nic_send(&model, 10), nic_stats(&model))
#endif
