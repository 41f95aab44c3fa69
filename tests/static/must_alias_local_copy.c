// Must-alias: a local copy of the lock pointer is the same lock, unless it was assigned anew.
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *arg) {
    pthread_mutex_t *p = &first;
    pthread_mutex_t *q = p;
#ifdef RACY
    q = &second;
#endif
    pthread_mutex_lock(q);
    shared++; // RACE!
    pthread_mutex_unlock(q);
    p = &second;
    return p == NULL ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&first);
    shared++; // RACE!
    pthread_mutex_unlock(&first);
    pthread_join(thread, NULL);
    return shared; // NORACE
}
