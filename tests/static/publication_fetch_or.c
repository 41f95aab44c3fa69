// A fetch-or that sets a mark in a published address takes the address; it has to acquire.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct item {
    int value;
};

static uintptr_t slot;

static void *maker(void *arg) {
    struct item *item = malloc(sizeof *item);
    (void)arg;
    item->value = 1; // RACE!
    __atomic_fetch_or(&slot, (uintptr_t)item, __ATOMIC_RELEASE);
    return NULL;
}

static void *user(void *arg) {
    uintptr_t word;
    (void)arg;
#ifdef RACY
    word = __atomic_fetch_or(&slot, 1, __ATOMIC_RELEASE);
#else
    word = __atomic_fetch_or(&slot, 1, __ATOMIC_ACQ_REL);
#endif
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
