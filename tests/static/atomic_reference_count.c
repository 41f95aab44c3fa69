// Atomics: whoever drops the last reference frees the object.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct object {
    atomic_int references;
    int payload;
};

static void put(struct object *o) {
    if (atomic_fetch_sub(&o->references, 1) == 1) { // NORACE
        o->payload = -1; // RACE!
        free(o); // RACE!
    }
}

static void *worker(void *arg) {
    struct object *o = arg;
    int copy = o->payload; // NORACE
    put(o);
    return copy == 9 ? NULL : arg;
}

int main(void) {
    pthread_t thread;
    struct object *o = malloc(sizeof *o);
#ifdef RACY
    o->references = 1; // NORACE
#else
    o->references = 2; // NORACE
#endif
    o->payload = 9; // NORACE
    pthread_create(&thread, NULL, worker, o);
#ifndef RACY
    put(o);
#else
    int seen = o->payload; // RACE!
#endif
    pthread_join(thread, NULL);
#ifdef RACY
    return seen;
#else
    return 0;
#endif
}
