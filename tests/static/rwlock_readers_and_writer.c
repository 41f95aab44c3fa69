// Rwlock modes: readers share, the writer excludes them.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int routes[2] = {1, 2};

static void *reader(void *arg) {
    int *out = arg;
    pthread_rwlock_rdlock(&lock);
    *out = routes[0] + routes[1]; // RACE!
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int sums[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, reader, &sums[i]);
#ifdef RACY
    pthread_rwlock_rdlock(&lock);
#else
    pthread_rwlock_wrlock(&lock);
#endif
    routes[0] = 5; // RACE!
    pthread_rwlock_unlock(&lock);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return sums[0] == sums[1]; // NORACE
}
