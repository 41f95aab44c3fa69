// Fences on both sides order relaxed accesses; a fence on one side does not.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct item {
    int value;
};

static _Atomic(struct item *) slot;

static void *maker(void *arg) {
    struct item *item = malloc(sizeof *item);
    (void)arg;
    item->value = 1; // RACE!
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&slot, item, memory_order_relaxed);
    return NULL;
}

static void *user(void *arg) {
    struct item *item = NULL;
    (void)arg;
    item = atomic_load_explicit(&slot, memory_order_relaxed);
#ifndef RACY
    atomic_thread_fence(memory_order_acquire);
#endif
    if (item)
        item->value++; // RACE!
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, maker, NULL);
    pthread_create(&two, NULL, user, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
