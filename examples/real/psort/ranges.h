/* Ranges that wait to be sorted: one stack that all workers share. */
#ifndef RANGES_H
#define RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Elements from `first` to before `end`. */
struct range {
    size_t first, end;
    unsigned depth; /* how often it may still be split badly */
};

struct ranges {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a range was added, or everything is done */
    struct range *items;
    size_t count, capacity;
    size_t most;      /* largest number of ranges that waited at once */
    unsigned working; /* workers that have a range and may add more */
};

void ranges_init(struct ranges *ranges);
void ranges_destroy(struct ranges *ranges);

/* Adds a range that nobody else works on. Everything its elements need must have been done. */
void ranges_push(struct ranges *ranges, struct range range);

/* Takes a range, waiting for one if other workers may still add some; false when everything is sorted. A worker that got
 * a range calls `ranges_finished` when it is done with it. */
bool ranges_take(struct ranges *ranges, struct range *range);
void ranges_finished(struct ranges *ranges);

#endif
