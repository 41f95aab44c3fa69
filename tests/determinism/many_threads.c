// More threads than a run has events for: their stacks are written in many places.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int started;

static void *worker(void *arg) {
    started++;
    return arg;
}

int main(void) {
    for (int i = 0; i < 1000; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, NULL);
    }
    return 0;
}
