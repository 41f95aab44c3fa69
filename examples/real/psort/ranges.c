#include "ranges.h"

#include <stdlib.h>

#include "fatal.h"

void ranges_init(struct ranges *ranges) {
    *ranges = (struct ranges){0};
    must(pthread_mutex_init(&ranges->lock, NULL), "pthread_mutex_init");
    must(pthread_cond_init(&ranges->changed, NULL), "pthread_cond_init");
}

void ranges_destroy(struct ranges *ranges) {
    pthread_cond_destroy(&ranges->changed);
    pthread_mutex_destroy(&ranges->lock);
    free(ranges->items);
}

void ranges_push(struct ranges *ranges, struct range range) {
    must(pthread_mutex_lock(&ranges->lock), "pthread_mutex_lock");
    if (ranges->count == ranges->capacity) {
        ranges->capacity = ranges->capacity == 0 ? 32 : ranges->capacity * 2;
        ranges->items = reallocate(ranges->items, ranges->capacity, sizeof *ranges->items);
    }
    ranges->items[ranges->count++] = range;
    if (ranges->most < ranges->count)
        ranges->most = ranges->count;
    pthread_cond_signal(&ranges->changed);
    pthread_mutex_unlock(&ranges->lock);
}

bool ranges_take(struct ranges *ranges, struct range *range) {
    must(pthread_mutex_lock(&ranges->lock), "pthread_mutex_lock");
    while (ranges->count == 0 && ranges->working > 0)
        pthread_cond_wait(&ranges->changed, &ranges->lock);
    bool found = ranges->count > 0;
    if (found) {
        *range = ranges->items[--ranges->count];
        ranges->working++;
    }
    pthread_mutex_unlock(&ranges->lock);
    return found;
}

void ranges_finished(struct ranges *ranges) {
#if BUG == 2
    /* The twin's mistake: "it is only a counter". Two workers may count down at once and one is lost, so that the
     * others wait for a worker that has long finished. */
    if (--ranges->working == 0)
        pthread_cond_broadcast(&ranges->changed);
#else
    must(pthread_mutex_lock(&ranges->lock), "pthread_mutex_lock");
    if (--ranges->working == 0)
        pthread_cond_broadcast(&ranges->changed);
    pthread_mutex_unlock(&ranges->lock);
#endif
}
