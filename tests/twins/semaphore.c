// A semaphore that starts at one excludes; one that starts at two does not.
#include <pthread.h>
#include <semaphore.h>

static sem_t sem;
static int counter;

static void *worker(void *arg) {
    sem_wait(&sem);
    counter++; // RACE!
    sem_post(&sem);
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    sem_init(&sem, 0, 2);
#else
    sem_init(&sem, 0, 1);
#endif
    pthread_create(&thread, NULL, worker, NULL);
    sem_wait(&sem);
    counter++; // RACE!
    sem_post(&sem);
    pthread_join(thread, NULL);
    sem_destroy(&sem);
    return 0;
}
