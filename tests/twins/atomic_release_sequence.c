// A read-modify-write continues the release sequence it reads from; a plain atomic store by another breaks it.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int state;
static int data;

static void *producer(void *arg) {
    data = 1; // RACE!
    atomic_store_explicit(&state, 1, memory_order_release);
    return arg;
}

static void *relay(void *arg) {
    int one = 1;
#ifdef RACY
    if (atomic_load_explicit(&state, memory_order_relaxed) == one)
        atomic_store_explicit(&state, 2, memory_order_relaxed);
#else
    atomic_compare_exchange_strong_explicit(&state, &one, 2, memory_order_relaxed, memory_order_relaxed);
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, relay, NULL);
    if (atomic_load_explicit(&state, memory_order_acquire) == 2)
        data = 2; // RACE!
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
