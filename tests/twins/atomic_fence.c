// Fences give relaxed accesses an order.
// Shows: threads: fences
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *producer(void *arg) {
    data = 1; // RACE!
#ifndef RACY
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&ready, 1, memory_order_relaxed); // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    if (atomic_load_explicit(&ready, memory_order_relaxed)) { // NORACE
        atomic_thread_fence(memory_order_acquire);
        data = 2; // RACE!
    }
    pthread_join(thread, NULL);
    return 0;
}
