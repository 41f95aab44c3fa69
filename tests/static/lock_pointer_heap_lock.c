// Lock pointers in structures: the lock itself is a heap block made by the set-up function.
#include <pthread.h>
#include <stdlib.h>

struct cache {
    pthread_mutex_t *lock;
    int hits;
    int misses;
};

static struct cache cache;

static void set_up(struct cache *c) {
    c->lock = malloc(sizeof *c->lock); // NORACE
    pthread_mutex_init(c->lock, NULL);
    c->hits = 0; // NORACE
}

static void *look_up(void *arg) {
    struct cache *c = arg;
    pthread_mutex_lock(c->lock);
    c->hits++; // NORACE
#ifdef RACY
    pthread_mutex_unlock(c->lock);
    c->misses++; // RACE!
#else
    c->misses++; // NORACE
    pthread_mutex_unlock(c->lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t a, b;
    set_up(&cache);
    pthread_create(&a, NULL, look_up, &cache);
    pthread_create(&b, NULL, look_up, &cache);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_mutex_destroy(cache.lock);
    free(cache.lock);
    return cache.hits - cache.misses; // NORACE
}
