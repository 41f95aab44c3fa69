// Waiting in a loop for a flag that publishes data.
// Shows: waiting: loops that read until another thread changes something
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int data;

static void *worker(void *arg) {
#ifdef RACY
    ready = 1;
    data = 42; // RACE!
#else
    data = 42;
    ready = 1;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    while (!ready)
        ;
    int seen = data; // RACE!
    pthread_join(thread, NULL);
    return seen == 7;
}
