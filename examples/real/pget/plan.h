/* Which segments of a file there are and how far each of them is. */
#ifndef PLAN_H
#define PLAN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum segment_state { SEGMENT_WAITING, SEGMENT_FETCHING, SEGMENT_COMPLETE };

struct segment {
    size_t first, length;
    size_t received; /* its fetcher's while it is being fetched */
    unsigned failures;
    enum segment_state state;
};

struct plan {
    pthread_mutex_t lock;
    pthread_cond_t completed; /* a segment is complete, or there is no hope */
    struct segment *segments;
    size_t count;
    size_t received;  /* bytes of all segments */
    unsigned retries; /* how often a segment may fail */
    bool failed;      /* some segment failed too often */
};

void plan_init(struct plan *plan, size_t length, size_t segment_length, unsigned retries);
void plan_destroy(struct plan *plan);

/* A segment that nobody fetches, for the caller to fetch; NULL if there is none. */
struct segment *plan_take(struct plan *plan);

/* The fetcher has got so many more bytes. */
void plan_progress(struct plan *plan, size_t more);

/* The fetcher is done: all bytes are where they belong, or it failed and somebody has to try the rest again. */
void plan_complete(struct plan *plan, struct segment *segment);
void plan_fail(struct plan *plan, struct segment *segment);

/* Waits until a segment is complete; false if the download has failed. Tells how many bytes have arrived. */
bool plan_wait(struct plan *plan, size_t index, size_t *received);

#endif
