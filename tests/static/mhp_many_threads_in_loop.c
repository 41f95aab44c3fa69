// May happen in parallel: threads created in a loop run in parallel with each other.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *worker(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    done++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return done; // NORACE
}
