// Two different mutexes exclude nothing.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg) {
    pthread_mutex_t *m = arg;
    pthread_mutex_lock(m);
    counter++; // RACE!
    pthread_mutex_unlock(m);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, &a);
#ifdef RACY
    pthread_create(&two, NULL, worker, &b);
#else
    pthread_create(&two, NULL, worker, &a);
#endif
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    pthread_mutex_destroy(&b);
    return counter;
}
