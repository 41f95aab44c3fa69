// A routing table under a reader-writer lock.
// raceproof static --entry route_look_up,route_add --locks linux
#include "kernel.h"

static DEFINE_RWLOCK(table_lock);
static int table[4], entries;

int route_look_up(int key) {
    int found = -1;
    read_lock(&table_lock);
    for (int i = 0; i < entries; i++) // RACE!
        if (table[i] == key) // NORACE
            found = i;
    read_unlock(&table_lock);
    return found;
}

int route_add(int key) {
    int full;
#ifdef RACY
    read_lock(&table_lock);
#else
    write_lock(&table_lock);
#endif
    full = entries == 4; // RACE!
    if (!full) {
#ifdef RACY
        entries++; // RACE!
        (void)key;
#else
        table[entries++] = key; // NORACE
#endif
    }
#ifdef RACY
    read_unlock(&table_lock);
#else
    write_unlock(&table_lock);
#endif
    return full;
}

#ifdef MODEL
THREADS(route_look_up(7), route_add(7))
#endif
