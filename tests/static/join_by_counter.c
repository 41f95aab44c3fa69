// Counters with condition variables as a join: main waits until all workers have reported.
#include <pthread.h>

#define WORKERS 2
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static int running = WORKERS;
static int results[WORKERS];

static void *worker(void *arg) {
    int *slot = arg;
    *slot = 7; // RACE!
    pthread_mutex_lock(&lock);
    running--; // NORACE
    pthread_cond_signal(&finished);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&thread, NULL, worker, &results[i]);
        pthread_detach(thread);
    }
    pthread_mutex_lock(&lock);
#ifdef RACY
    if (running > 1) // NORACE
#else
    while (running > 0) // NORACE
#endif
        pthread_cond_wait(&finished, &lock);
    pthread_mutex_unlock(&lock);
    return results[0] + results[1]; // RACE!
}
