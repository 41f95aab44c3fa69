// A lock specification of one's own: shared and exclusive holders.
// raceproof static --entry map_read,map_write --locks rtos.toml
#include "rtos.h"

struct map {
    struct os_rw lock;
    int keys;
    int version;
};

int map_read(struct map *m) {
    os_rw_share(&m->lock);
    int keys = m->keys; // NORACE
#ifdef RACY
    m->version++; // RACE!
#endif
    os_rw_release(&m->lock);
    return keys;
}

void map_write(struct map *m) {
    os_rw_own(&m->lock);
    m->keys++; // NORACE
    m->version++; // NORACE
    os_rw_release(&m->lock);
}

#ifdef MODEL
static struct map model = {OS_RW, 0, 0};
THREADS(map_read(&model), map_write(&model))
#endif
