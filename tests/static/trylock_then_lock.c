// Trylock: count the contention, then wait; either way the lock is held afterwards.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int contended, value;

static void acquire(void) {
    if (pthread_mutex_trylock(&lock) != 0) {
#ifdef RACY
        contended++; // RACE!
        pthread_mutex_lock(&lock);
#else
        pthread_mutex_lock(&lock);
        contended++; // NORACE
#endif
    }
}

static void *worker(void *arg) {
    acquire();
    value++; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    value++; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return contended + value; // NORACE
}
