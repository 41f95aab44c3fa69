// Readers exclude writers, not each other.
// Shows: threads: read-write locks
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int config;

static void *reader(void *arg) {
    pthread_rwlock_rdlock(&lock);
    int seen = config; // NORACE
#ifdef RACY
    config = seen + 1; // RACE!
#endif
    pthread_rwlock_unlock(&lock);
    return seen ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_rwlock_wrlock(&lock);
    config++; // NORACE
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_rdlock(&lock);
    int seen = config; // RACE!
    pthread_rwlock_unlock(&lock);
    pthread_join(thread, NULL);
    return seen == 9;
}
