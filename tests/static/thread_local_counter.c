// Thread-local data: each thread has its own; sums are merged under a lock.
#include <pthread.h>

#ifdef RACY
static long local_hits;
#else
static _Thread_local long local_hits;
#endif
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long hits;

static void hit(void) {
    local_hits++; // RACE!
}

static void *worker(void *arg) {
    hit();
    hit();
    pthread_mutex_lock(&lock);
    hits += local_hits; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return (int)hits; // NORACE
}
