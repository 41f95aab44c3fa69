// Semaphores as a readers/writer lock: a reader takes one of two places, a writer takes both.
#include <pthread.h>
#include <semaphore.h>

#define PLACES 2
static sem_t places;
static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;
static int price, changes;

static void *reader(void *arg) {
    sem_wait(&places);
    int seen = price; // RACE!
    sem_post(&places);
    return seen ? arg : NULL;
}

static void *writer(void *arg) {
    pthread_mutex_lock(&writers);
    sem_wait(&places);
#ifndef RACY
    sem_wait(&places);
#endif
    price = 3; // RACE!
    changes++; // NORACE
    sem_post(&places);
#ifndef RACY
    sem_post(&places);
#endif
    pthread_mutex_unlock(&writers);
    return arg;
}

int main(void) {
    pthread_t a, b;
    sem_init(&places, 0, PLACES);
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return price + changes; // NORACE
}
