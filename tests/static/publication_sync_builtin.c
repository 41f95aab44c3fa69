// The old builtins are full barriers; a relaxed load beside them is not.
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
    __sync_bool_compare_and_swap(&slot, 0, (uintptr_t)item);
    return NULL;
}

static void *user(void *arg) {
    uintptr_t word;
    (void)arg;
#ifdef RACY
    word = __atomic_load_n(&slot, __ATOMIC_RELAXED);
#else
    word = __sync_fetch_and_add(&slot, 0);
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
