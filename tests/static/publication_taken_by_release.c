// An exchange that only releases does not take what was published.
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
    atomic_store_explicit(&slot, item, memory_order_release);
    return NULL;
}

static void *user(void *arg) {
    struct item *item = NULL;
    (void)arg;
#ifdef RACY
    item = atomic_exchange_explicit(&slot, NULL, memory_order_release);
#else
    item = atomic_exchange_explicit(&slot, NULL, memory_order_acquire);
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
