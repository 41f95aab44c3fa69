// $ raceproof check unlock_twice.c
// The early exit forgets that the lock was given back already.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs = 1;

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&lock);
    int left = jobs--;
    pthread_mutex_unlock(&lock);
    if (left <= 0)
        pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
