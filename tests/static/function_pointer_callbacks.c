// Function pointers: handlers registered in a table; one of them forgets the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int opened, closed;

static void on_open(void) {
    pthread_mutex_lock(&lock);
    opened++; // NORACE
    pthread_mutex_unlock(&lock);
}

static void on_close(void) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    closed++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void (*const handlers[])(void) = {on_open, on_close};

static void *dispatch(void *arg) {
    for (int i = 0; i < 2; i++)
        handlers[i]();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, dispatch, NULL);
    dispatch(NULL);
    pthread_join(thread, NULL);
    return opened + closed; // NORACE
}
