// A timed write lock that timed out protects nothing.
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock;
static int config;

static void *writer(void *arg) {
    struct timespec limit = {.tv_sec = 1};
    int failed = pthread_rwlock_timedwrlock(&lock, &limit);
#ifndef RACY
    if (!failed)
#endif
        config++; // RACE!
    if (!failed)
        pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_rwlock_init(&lock, NULL);
    pthread_create(&thread, NULL, writer, NULL);
    pthread_rwlock_rdlock(&lock);
    int seen = config; // RACE!
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_rwlock_destroy(&lock);
    return seen == 9;
}
