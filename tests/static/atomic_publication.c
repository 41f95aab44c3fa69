// Atomics: a release store publishes what was written before it to whoever acquires it.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct config {
    int workers;
    int timeout;
};

static struct config storage;
static _Atomic(struct config *) published;

static void *load_config(void *arg) {
#ifdef RACY
    atomic_store(&published, &storage); // NORACE
#endif
    storage.workers = 4; // RACE!
    storage.timeout = 30; // NORACE
#ifndef RACY
    atomic_store(&published, &storage); // NORACE
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    int workers = 1;
    pthread_create(&thread, NULL, load_config, NULL);
    struct config *c = atomic_load(&published); // NORACE
    if (c != NULL)
        workers = c->workers; // RACE!
    pthread_join(thread, NULL);
    return workers + storage.timeout; // NORACE
}
