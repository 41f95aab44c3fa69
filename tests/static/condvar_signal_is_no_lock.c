// Condition variables: a signal without the lock wakes, but protects nothing.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, payload;

static void *producer(void *arg) {
    pthread_mutex_lock(&lock);
    ready = 1; // NORACE
#ifndef RACY
    payload = 42; // NORACE
#endif
    pthread_mutex_unlock(&lock);
#ifdef RACY
    payload = 42; // RACE!
#endif
    pthread_cond_signal(&changed);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) // NORACE
        pthread_cond_wait(&changed, &lock);
    int got = payload; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return got;
}
