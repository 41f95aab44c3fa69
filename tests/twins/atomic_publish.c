// A release store read by an acquire load publishes; a relaxed one does not.
#include <pthread.h>
#include <stdatomic.h>

#ifdef RACY
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_release
#endif

static atomic_int ready;
static int data;

static void *producer(void *arg) {
    data = 1; // RACE!
    atomic_store_explicit(&ready, 1, PUBLISH); // NORACE
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    if (atomic_load_explicit(&ready, memory_order_acquire)) // NORACE
        data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
