// Acquisition histories: the inner locks are taken and released in called functions.
#include <pthread.h>

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;
static int dirty, lookups, writes;

static void touch_cache(void) {
    pthread_mutex_lock(&cache); // DEADLOCK
    lookups++; // NORACE
    pthread_mutex_unlock(&cache);
}

static void touch_disk(void) {
    pthread_mutex_lock(&disk); // DEADLOCK
    writes++; // NORACE
    pthread_mutex_unlock(&disk);
}

static void *flusher(void *arg) {
    pthread_mutex_lock(&disk);
    touch_cache();
    dirty = 0; // RACE!
    pthread_mutex_unlock(&disk);
    return arg;
}

static void *user(void *arg) {
    pthread_mutex_lock(&cache);
#ifndef RACY
    touch_disk();
#endif
    dirty = 1; // RACE!
    pthread_mutex_unlock(&cache);
#ifdef RACY
    touch_disk();
#endif
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, flusher, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL); // DEADLOCK
    pthread_join(b, NULL);
    return dirty + lookups + writes; // NORACE
}
