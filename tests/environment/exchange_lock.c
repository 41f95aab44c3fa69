// --environment spurious: a spin lock of weak compare-exchanges that gives up after a failure it did not expect.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int lock;
static int data;

static int take(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak(&lock, &expected, 1)) {
#ifndef RIGHT
        if (expected == 0)
            return 0;
#endif
        expected = 0;
    }
    return 1;
}

static void *increment(void *arg) {
    int taken = take();
    data++; // RACE!
    if (taken)
        atomic_store(&lock, 0);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, increment, NULL);
    increment(NULL);
    pthread_join(thread, NULL);
    return 0;
}
