// A sequentially consistent load takes what was published; a relaxed one does not.
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
    atomic_store(&slot, item);
    return NULL;
}

static void *user(void *arg) {
    struct item *item = NULL;
    (void)arg;
#ifdef RACY
    item = atomic_load_explicit(&slot, memory_order_relaxed);
#else
    item = atomic_load(&slot);
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
