// A dispatcher holds the lock around a call through a table of callbacks, so every callback runs under it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened, closed;

static void open_one(int by) {
    opened += by; // RACE!
}

static void close_one(int by) {
    closed += by; // RACE!
}

static void (*const callbacks[])(int) = {open_one, close_one};

static void dispatch(int which, int by) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    callbacks[which](by);
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *worker(void *arg) {
    dispatch(0, 1);
    dispatch(1, 2);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return opened + closed; // NORACE
}
