// In C a later store of the same thread continues its release sequence, also a relaxed one; another thread's ends it.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int state;
static int data;

static void *producer(void *arg) {
    data = 1; // RACE!
    atomic_store_explicit(&state, 1, memory_order_release);
#ifndef RACY
    atomic_store_explicit(&state, 2, memory_order_relaxed);
#endif
    return arg;
}

static void *other(void *arg) {
#ifdef RACY
    if (atomic_load_explicit(&state, memory_order_relaxed) == 1)
        atomic_store_explicit(&state, 2, memory_order_relaxed);
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, other, NULL);
    if (atomic_load_explicit(&state, memory_order_acquire) == 2)
        data = 2; // RACE!
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
