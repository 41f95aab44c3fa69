// Trylock: give up early when the lock is taken.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int flushed;

static int flush(void) {
    if (pthread_mutex_trylock(&lock) != 0)
#ifdef RACY
        return flushed; // RACE!
#else
        return -1;
#endif
    int n = ++flushed; // RACE!
    pthread_mutex_unlock(&lock);
    return n;
}

static void *worker(void *arg) {
    flush();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    int n = flush();
    pthread_join(thread, NULL);
    return n + flushed; // NORACE
}
