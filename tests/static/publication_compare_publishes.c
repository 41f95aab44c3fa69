// A compare-exchange that only acquires does not publish.
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
    struct item *none = NULL;
#ifdef RACY
    atomic_compare_exchange_strong_explicit(&slot, &none, item, memory_order_acquire, memory_order_acquire);
#else
    atomic_compare_exchange_strong_explicit(&slot, &none, item, memory_order_acq_rel, memory_order_acquire);
#endif
    return NULL;
}

static void *user(void *arg) {
    struct item *item = NULL;
    (void)arg;
    item = atomic_load_explicit(&slot, memory_order_acquire);
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
