// A semaphore without a name is closed.
#include <pthread.h>
#include <semaphore.h>

static sem_t semaphore;

static void *work(void *arg) {
    sem_post(&semaphore);
    return arg;
}

int main(void) {
    sem_init(&semaphore, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    sem_close(&semaphore); // MISUSE closes a semaphore that was not opened by a name
    return 0;
}
