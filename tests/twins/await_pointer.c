// A loop that waits for a pointer, whose value a function keeps in a local variable of its own.
#include <pthread.h>

static int data, *published;

static void *publish(void *arg) {
    data = 1; // RACE!
    __atomic_store_n(&published, &data, __ATOMIC_RELEASE);
    return arg;
}

static int *get(int order) {
    int *seen;
    __atomic_load(&published, &seen, order);
    return seen;
}

int main(void) {
#ifdef RACY
    int order = __ATOMIC_RELAXED;
#else
    int order = __ATOMIC_ACQUIRE;
#endif
    pthread_t thread;
    pthread_create(&thread, 0, publish, 0);
    while (!get(order))
        ;
    data++; // RACE!
    pthread_join(thread, 0);
    return 0;
}
