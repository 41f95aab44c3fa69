// Rwlock modes: there is no upgrade; between unlock and write lock nothing is held.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int size = 1, limit = 8;

static void grow(void) {
    pthread_rwlock_rdlock(&lock);
    int wanted = size * 2; // RACE!
    int fits = wanted <= limit; // NORACE
    pthread_rwlock_unlock(&lock);
    if (fits) {
#ifndef RACY
        pthread_rwlock_wrlock(&lock);
#endif
        size = wanted; // RACE!
#ifndef RACY
        pthread_rwlock_unlock(&lock);
#endif
    }
}

static void *worker(void *arg) {
    grow();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    grow();
    pthread_join(thread, NULL);
    return size; // NORACE
}
