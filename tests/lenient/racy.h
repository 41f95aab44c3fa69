// Two threads that race on `shared`.
#include <pthread.h>

static int shared;

static void *run(void *arg) {
    shared++;
    return arg;
}

static void race(void) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    shared++;
    pthread_join(thread, 0);
}
