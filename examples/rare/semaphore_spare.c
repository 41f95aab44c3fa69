// A semaphore with a spare unit: the consumer does not have to wait for the producer, although it always does.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t items;
static int box;

static void *producer(void *unused) {
    box = 7;
    sem_post(&items);
    return unused;
}

static void *consumer(void *unused) {
    usleep(20000);
    sem_wait(&items);
    return (void *)(long)box;
}

int main(void) {
    pthread_t one, other;
#ifdef FIXED
    sem_init(&items, 0, 0);
#else
    sem_init(&items, 0, 1);
#endif
    pthread_create(&one, 0, producer, 0);
    pthread_create(&other, 0, consumer, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
