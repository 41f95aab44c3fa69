// Semaphores as signals: the post of an earlier thread says nothing about a later one in the same function.
#include <pthread.h>
#include <semaphore.h>

#ifdef RACY
#define SENDERS 2
#else
#define SENDERS 1
#endif
static sem_t filled;
static int message, got;

static void *sender(void *arg) {
    message = 7; // RACE!
    sem_post(&filled);
    return arg;
}

static void *receiver(void *arg) {
    sem_wait(&filled);
    got = message; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread, other;
    sem_init(&filled, 0, 0);
    pthread_create(&other, NULL, receiver, NULL);
    for (int i = 0; i < SENDERS; i++) {
        pthread_create(&thread, NULL, sender, NULL);
        pthread_join(thread, NULL);
    }
    pthread_join(other, NULL);
    return got; // NORACE
}
