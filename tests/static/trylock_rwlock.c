// Trylock: tryrdlock gives shared, trywrlock exclusive access.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int table;

static void *reader(void *arg) {
    int *out = arg;
    *out = 0; // NORACE
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        *out = table; // RACE!
        pthread_rwlock_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    int seen;
    pthread_create(&thread, NULL, reader, &seen);
#ifdef RACY
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
#else
    if (pthread_rwlock_trywrlock(&lock) == 0) {
#endif
        table++; // RACE!
        pthread_rwlock_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return seen + table; // NORACE
}
