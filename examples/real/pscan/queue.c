#include "queue.h"

#include <stdlib.h>

#include "fatal.h"

void queue_init(struct queue *queue, size_t room) {
    *queue = (struct queue){.room = room, .tasks = allocate(room, sizeof *queue->tasks)};
    must(pthread_mutex_init(&queue->lock, NULL), "pthread_mutex_init");
    must(pthread_cond_init(&queue->not_empty, NULL), "pthread_cond_init");
    must(pthread_cond_init(&queue->not_full, NULL), "pthread_cond_init");
}

void queue_destroy(struct queue *queue) {
    for (; queue->count > 0; queue->count--, queue->first++)
        free(queue->tasks[queue->first % queue->room].path);
    pthread_cond_destroy(&queue->not_full);
    pthread_cond_destroy(&queue->not_empty);
    pthread_mutex_destroy(&queue->lock);
    free(queue->tasks);
}

bool queue_put(struct queue *queue, struct task task) {
    must(pthread_mutex_lock(&queue->lock), "pthread_mutex_lock");
    while (queue->count == queue->room && !queue->cancelled)
        pthread_cond_wait(&queue->not_full, &queue->lock);
    bool wanted = !queue->cancelled;
    if (wanted) {
        queue->tasks[(queue->first + queue->count) % queue->room] = task;
        queue->count++;
        if (queue->most < queue->count)
            queue->most = queue->count;
        pthread_cond_signal(&queue->not_empty);
    }
    pthread_mutex_unlock(&queue->lock);
    return wanted;
}

bool queue_take(struct queue *queue, struct task *task) {
    must(pthread_mutex_lock(&queue->lock), "pthread_mutex_lock");
    while (queue->count == 0 && !queue->closed && !queue->cancelled)
        pthread_cond_wait(&queue->not_empty, &queue->lock);
    bool found = queue->count > 0 && !queue->cancelled;
    if (found) {
        *task = queue->tasks[queue->first];
        queue->first = (queue->first + 1) % queue->room;
        queue->count--;
        pthread_cond_signal(&queue->not_full);
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

void queue_close(struct queue *queue) {
    must(pthread_mutex_lock(&queue->lock), "pthread_mutex_lock");
    queue->closed = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_mutex_unlock(&queue->lock);
}

void queue_cancel(struct queue *queue) {
#if BUG == 2
    /* The twin's mistake: "it is only a flag". Who waits may have looked at it just before, and sleeps on. */
    queue->cancelled = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_cond_broadcast(&queue->not_full);
#else
    must(pthread_mutex_lock(&queue->lock), "pthread_mutex_lock");
    queue->cancelled = true;
    pthread_cond_broadcast(&queue->not_empty);
    pthread_cond_broadcast(&queue->not_full);
    pthread_mutex_unlock(&queue->lock);
#endif
}
