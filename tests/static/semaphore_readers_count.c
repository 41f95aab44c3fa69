// Semaphores as a readers/writer lock: the first reader locks writers out, the last one lets them in again.
#include <pthread.h>
#include <semaphore.h>

static sem_t room, count_lock;
static int readers, price;

static void *reader(void *arg) {
    sem_wait(&count_lock);
    if (++readers == 1) // NORACE
        sem_wait(&room);
    sem_post(&count_lock);
#ifdef RACY
    sem_wait(&count_lock);
    if (--readers == 0) // NORACE
        sem_post(&room);
    sem_post(&count_lock);
    int seen = price; // RACE!
#else
    int seen = price; // NORACE
    sem_wait(&count_lock);
    if (--readers == 0) // NORACE
        sem_post(&room);
    sem_post(&count_lock);
#endif
    return seen ? arg : NULL;
}

static void *writer(void *arg) {
    sem_wait(&room);
    price = 3; // RACE!
    sem_post(&room);
    return arg;
}

int main(void) {
    pthread_t a, b;
    sem_init(&room, 0, 1);
    sem_init(&count_lock, 0, 1);
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return price; // NORACE
}
