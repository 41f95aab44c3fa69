// tryrdlock and trywrlock count only when they succeed.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int config;

static void *writer(void *arg) {
    if (pthread_rwlock_trywrlock(&lock) == 0) {
        config++; // NORACE
        pthread_rwlock_unlock(&lock);
    } else {
#ifdef RACY
        config--; // RACE!
#endif
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, writer, NULL);
    int seen = 0;
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        seen = config; // RACE!
        pthread_rwlock_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return seen == 9;
}
