// Semaphores as locks: a third thread that posts without having waited lets two in.
#include <pthread.h>
#include <semaphore.h>

static sem_t gate;
static int inside;

static void *worker(void *arg) {
    sem_wait(&gate);
    inside++; // RACE!
    inside--; // RACE!
    sem_post(&gate);
    return arg;
}

static void *meddler(void *arg) {
#ifdef RACY
    sem_post(&gate);
#endif
    return arg;
}

int main(void) {
    pthread_t threads[3];
    sem_init(&gate, 0, 1);
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, NULL);
    pthread_create(&threads[2], NULL, meddler, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return inside; // NORACE
}
