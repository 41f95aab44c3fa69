// A relaxed flag publishes nothing: the data races although the flag is atomic.
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *writer(void *arg) {
    data = 42; // RACE!
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    int result = 0;
    pthread_t thread;
    pthread_create(&thread, 0, writer, 0);
    if (atomic_load_explicit(&ready, memory_order_relaxed))
        result = data; // RACE!
    pthread_join(thread, 0);
    return result;
}
