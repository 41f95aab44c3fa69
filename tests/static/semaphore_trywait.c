// Semaphores as locks: sem_trywait holds where it returned 0.
#include <pthread.h>
#include <semaphore.h>

static sem_t gate;
static int cached;

static void *worker(void *arg) {
    if (sem_trywait(&gate) == 0) {
        cached++; // RACE!
        sem_post(&gate);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&gate, 0, 1);
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    int got = sem_trywait(&gate);
    cached--; // RACE!
    if (got == 0)
        sem_post(&gate);
#else
    sem_wait(&gate);
    cached--; // NORACE
    sem_post(&gate);
#endif
    pthread_join(thread, NULL);
    return cached; // NORACE
}
