// An order that is known only at run time may be a weak one.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct item {
    int value;
};

static uintptr_t slot;

#ifdef RACY
static int order = __ATOMIC_RELAXED;
#else
static int order = __ATOMIC_RELEASE;
#endif

static void *maker(void *arg) {
    struct item *item = malloc(sizeof *item);
    (void)arg;
    item->value = 1; // RACE!
    __atomic_store_n(&slot, (uintptr_t)item, order);
    return NULL;
}

static void *user(void *arg) {
    uintptr_t word;
    (void)arg;
    word = __atomic_load_n(&slot, __ATOMIC_ACQUIRE);
    struct item *item = (struct item *)(word & ~(uintptr_t)1);
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
