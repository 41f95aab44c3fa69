/* Blocks on their way from thread to thread. Who has a block has it alone. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "block.h"

/* First in, first out. There is room for all blocks of the program, so putting never waits. */
struct channel {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct block **blocks; /* a ring */
    size_t room, first, count;
    bool closed; /* nothing will be added */
};

void channel_init(struct channel *channel, size_t room);
void channel_destroy(struct channel *channel);
void channel_put(struct channel *channel, struct block *block);

/* No more will come. */
void channel_close(struct channel *channel);

/* Takes the oldest, waiting for one; NULL when the channel is closed and empty. */
struct block *channel_take(struct channel *channel);

/* In the order of sequence numbers, however they were put. */
struct shelf {
    pthread_mutex_t lock;
    pthread_cond_t arrived; /* the next one is there, or there will be none */
    struct block **places;  /* by sequence number modulo room; never more blocks than room are under way */
    size_t room, next;
    size_t end; /* how many there will be, once `ended` */
    bool ended;
};

void shelf_init(struct shelf *shelf, size_t room);
void shelf_destroy(struct shelf *shelf);
void shelf_put(struct shelf *shelf, struct block *block);

/* There will be this many in all. */
void shelf_end(struct shelf *shelf, size_t count);

/* Takes the next in order, waiting for it; NULL after the last. */
struct block *shelf_take(struct shelf *shelf);

#endif
