// A read-modify-write of another thread does not end a sequence that its thread's own store continues in C.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int state;
static int data;

static void *producer(void *arg) {
#ifdef RACY
    atomic_store_explicit(&state, 1, memory_order_release);
    data = 1; // RACE!
#else
    data = 1;
    atomic_store_explicit(&state, 1, memory_order_release);
#endif
    atomic_store_explicit(&state, 2, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t a;
    pthread_create(&a, NULL, producer, NULL);
    atomic_fetch_add_explicit(&state, 4, memory_order_relaxed);
    if ((atomic_load_explicit(&state, memory_order_acquire) & 3) == 2)
        data = 2; // RACE!
    pthread_join(a, NULL);
    return 0;
}
