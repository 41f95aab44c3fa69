// Trying to lock until it works.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *worker(void *arg) {
    while (pthread_mutex_trylock(&lock))
        ;
    shared = 1; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    shared = 2;
    pthread_mutex_unlock(&lock);
#ifdef RACY
    shared = 3; // RACE!
#endif
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
