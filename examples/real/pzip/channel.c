#include "channel.h"

#include <stdlib.h>
#include <string.h>

#include "fatal.h"

static void sync_init(pthread_mutex_t *lock, pthread_cond_t *condition) {
    must(pthread_mutex_init(lock, NULL), "pthread_mutex_init");
    must(pthread_cond_init(condition, NULL), "pthread_cond_init");
}

void channel_init(struct channel *channel, size_t room) {
    memset(channel, 0, sizeof *channel);
    sync_init(&channel->lock, &channel->filled);
    channel->blocks = allocate(room, sizeof *channel->blocks);
    channel->room = room;
}

void channel_destroy(struct channel *channel) {
    pthread_cond_destroy(&channel->filled);
    pthread_mutex_destroy(&channel->lock);
    free(channel->blocks);
}

void channel_put(struct channel *channel, struct block *block) {
    must(pthread_mutex_lock(&channel->lock), "pthread_mutex_lock");
    channel->blocks[(channel->first + channel->count) % channel->room] = block;
    channel->count++;
    pthread_cond_signal(&channel->filled);
    pthread_mutex_unlock(&channel->lock);
}

void channel_close(struct channel *channel) {
    must(pthread_mutex_lock(&channel->lock), "pthread_mutex_lock");
    channel->closed = true;
    pthread_cond_broadcast(&channel->filled);
    pthread_mutex_unlock(&channel->lock);
}

struct block *channel_take(struct channel *channel) {
    struct block *block = NULL;
    must(pthread_mutex_lock(&channel->lock), "pthread_mutex_lock");
    while (channel->count == 0 && !channel->closed)
        pthread_cond_wait(&channel->filled, &channel->lock);
    if (channel->count > 0) {
        block = channel->blocks[channel->first];
        channel->first = (channel->first + 1) % channel->room;
        channel->count--;
    }
    pthread_mutex_unlock(&channel->lock);
    return block;
}

void shelf_init(struct shelf *shelf, size_t room) {
    memset(shelf, 0, sizeof *shelf);
    sync_init(&shelf->lock, &shelf->arrived);
    shelf->places = allocate(room, sizeof *shelf->places);
    memset(shelf->places, 0, room * sizeof *shelf->places);
    shelf->room = room;
}

void shelf_destroy(struct shelf *shelf) {
    pthread_cond_destroy(&shelf->arrived);
    pthread_mutex_destroy(&shelf->lock);
    free(shelf->places);
}

void shelf_put(struct shelf *shelf, struct block *block) {
    must(pthread_mutex_lock(&shelf->lock), "pthread_mutex_lock");
    shelf->places[block->sequence % shelf->room] = block;
    if (block->sequence == shelf->next)
        pthread_cond_signal(&shelf->arrived);
    pthread_mutex_unlock(&shelf->lock);
}

void shelf_end(struct shelf *shelf, size_t count) {
    must(pthread_mutex_lock(&shelf->lock), "pthread_mutex_lock");
    shelf->end = count;
    shelf->ended = true;
    pthread_cond_signal(&shelf->arrived);
    pthread_mutex_unlock(&shelf->lock);
}

struct block *shelf_take(struct shelf *shelf) {
    must(pthread_mutex_lock(&shelf->lock), "pthread_mutex_lock");
    struct block **place = &shelf->places[shelf->next % shelf->room];
    while (*place == NULL && !(shelf->ended && shelf->next == shelf->end))
        pthread_cond_wait(&shelf->arrived, &shelf->lock);
    struct block *block = *place;
    *place = NULL;
    if (block != NULL)
        shelf->next++;
    pthread_mutex_unlock(&shelf->lock);
    return block;
}
