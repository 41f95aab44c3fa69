// Trylock: the result still says that the lock was taken when it has been given back.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue;

static void *worker(void *arg) {
    int busy = pthread_mutex_trylock(&lock);
#ifdef RACY
    if (!busy)
        pthread_mutex_unlock(&lock);
#endif
    if (!busy)
        queue++; // RACE!
#ifndef RACY
    if (!busy)
        pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    queue++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return queue; // NORACE
}
