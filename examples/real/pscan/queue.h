/* Files that wait to be searched: a bounded queue between the walker and the workers. */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct task {
    char *path;      /* the taker's to free */
    size_t sequence; /* in the order in which files were found */
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct task *tasks; /* a ring */
    size_t room, first, count;
    size_t most;    /* largest number that waited at once */
    bool closed;    /* the walker is done */
    bool cancelled; /* nobody wants more: what waits is dropped */
};

void queue_init(struct queue *queue, size_t room);
void queue_destroy(struct queue *queue);

/* Waits for room. False if the search was cancelled; then nothing was added. */
bool queue_put(struct queue *queue, struct task task);

/* Waits for a task; false when there will be none. */
bool queue_take(struct queue *queue, struct task *task);

/* No more will be put. */
void queue_close(struct queue *queue);

/* Nothing more is wanted. */
void queue_cancel(struct queue *queue);

#endif
