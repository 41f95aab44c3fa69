// A counting barrier that is used again while threads are still leaving it; sense reversal (Hensgen and others, 1988) repairs it.
#include <pthread.h>

enum { THREADS = 2, PHASES = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived, phase;

static void barrier(void) {
    pthread_mutex_lock(&lock);
    arrived++;
#ifdef RIGHT
    int mine = phase;
    if (arrived == THREADS) {
        arrived = 0;
        phase++;
        pthread_cond_broadcast(&all_here);
    }
    while (phase == mine)
        pthread_cond_wait(&all_here, &lock);
#else
    if (arrived == THREADS)
        pthread_cond_broadcast(&all_here);
    while (arrived < THREADS)
        pthread_cond_wait(&all_here, &lock); // DEADLOCK
    if (phase++ % THREADS == THREADS - 1)
        arrived = 0;
#endif
    pthread_mutex_unlock(&lock);
}

static int results[THREADS][PHASES];

static void *worker(void *arg) {
    int self = (int)(long)arg;
    for (int i = 0; i < PHASES; i++) {
        results[self][i] = i;
        barrier();
    }
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, (void *)1);
    worker((void *)0);
    pthread_join(thread, NULL); // DEADLOCK
    return results[1][PHASES - 1] == PHASES - 1 ? 0 : 1;
}
