// Rwlock modes: a reader that counts is a writer.
#include <pthread.h>

struct cache {
    pthread_rwlock_t lock;
    pthread_mutex_t stats_lock;
    int value;
    int lookups;
};

static struct cache cache = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 7, 0};

static int look_up(struct cache *c) {
    pthread_rwlock_rdlock(&c->lock);
    int value = c->value; // NORACE
#ifndef RACY
    pthread_mutex_lock(&c->stats_lock);
#endif
    c->lookups++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&c->stats_lock);
#endif
    pthread_rwlock_unlock(&c->lock);
    return value;
}

static void *worker(void *arg) {
    look_up(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &cache);
    int value = look_up(&cache);
    pthread_rwlock_wrlock(&cache.lock);
    cache.value = value + 1; // NORACE
    pthread_rwlock_unlock(&cache.lock);
    pthread_join(thread, NULL);
    return cache.value; // NORACE
}
