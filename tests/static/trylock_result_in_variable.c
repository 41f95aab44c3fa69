// Trylock: the result is kept and tested later, twice.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queue;

static void *worker(void *arg) {
    int busy = pthread_mutex_trylock(&lock);
    int weight = 1;
    if (busy)
        weight = 2;
#ifdef RACY
    if (busy)
        queue += weight; // RACE!
#else
    if (!busy)
        queue += weight; // NORACE
#endif
    if (!busy)
        pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    queue++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return queue; // NORACE
}
