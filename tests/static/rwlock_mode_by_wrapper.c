// Rwlock modes: the wrapper's argument says in which mode.
#include <pthread.h>

enum mode { SHARED, EXCLUSIVE };

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int version;

static void acquire(enum mode mode) {
    if (mode == EXCLUSIVE)
        pthread_rwlock_wrlock(&lock);
    else
        pthread_rwlock_rdlock(&lock);
}

static void *reader(void *arg) {
    int *out = arg;
    acquire(SHARED);
    *out = version; // RACE!
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen;
    pthread_create(&thread, NULL, reader, &seen);
#ifdef RACY
    acquire(SHARED);
#else
    acquire(EXCLUSIVE);
#endif
    version++; // RACE!
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return seen + version; // NORACE
}
