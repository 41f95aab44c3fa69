// Counting as a join: each worker posts once, main waits as often.
#include <pthread.h>
#include <semaphore.h>

#define WORKERS 2
static sem_t finished;
static int results[WORKERS];

static void *worker(void *arg) {
    *(int *)arg = 4; // RACE!
    sem_post(&finished);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int waits = WORKERS;
    sem_init(&finished, 0, 0);
    for (int i = 0; i < WORKERS; i++) {
        pthread_create(&thread, NULL, worker, &results[i]);
        pthread_detach(thread);
    }
#ifdef RACY
    waits--;
#endif
    for (int i = 0; i < waits; i++)
        sem_wait(&finished);
    return results[0] + results[1]; // RACE!
}
