// Locksets: the lock is released and taken again inside a loop; at its head it is held in every iteration.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 2, handled;

static void *drain(void *arg) {
    pthread_mutex_lock(&lock);
    while (left > 0) { // NORACE
        left--; // NORACE
        pthread_mutex_unlock(&lock);
#ifdef RACY
        handled++; // RACE!
#endif
        pthread_mutex_lock(&lock);
#ifndef RACY
        handled++; // NORACE
#endif
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, drain, NULL);
    drain(NULL);
    pthread_join(thread, NULL);
    return handled; // NORACE
}
