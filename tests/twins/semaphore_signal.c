// A semaphore that starts at zero hands data over.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled;
static int data;

static void *producer(void *arg) {
#ifdef RACY
    sem_post(&filled);
    data = 1; // RACE!
#else
    data = 1;
    sem_post(&filled);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    sem_wait(&filled);
    int seen = data; // RACE!
    pthread_join(thread, NULL);
    return seen == 9;
}
