// A fetch-max passes an address on, and has to release.
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
#ifdef RACY
    __atomic_fetch_max(&slot, (uintptr_t)item, __ATOMIC_RELAXED);
#else
    __atomic_fetch_max(&slot, (uintptr_t)item, __ATOMIC_RELEASE);
#endif
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
