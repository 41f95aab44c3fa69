// A lock held across join: the joined thread runs while main holds the lock, so what it does is protected against others.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int config;

static void *load(void *arg) {
    config = 5; // RACE!
    return arg;
}

static void *watch(void *arg) {
    int *out = arg;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    *out = config; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void) {
    pthread_t loader, watcher;
    int seen;
    pthread_mutex_lock(&lock);
    pthread_create(&watcher, NULL, watch, &seen);
    pthread_create(&loader, NULL, load, NULL);
    pthread_join(loader, NULL);
    pthread_mutex_unlock(&lock);
    pthread_join(watcher, NULL);
    return seen; // NORACE
}
