// Semaphores as signals: a wait says nothing about what one of two posters did before its post.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled;
static int message;

static void *sender(void *arg) {
    message = 7; // RACE!
    sem_post(&filled);
    return arg;
}

static void *hasty(void *arg) {
#ifdef RACY
    sem_post(&filled);
#endif
    return arg;
}

int main(void) {
    pthread_t one, other;
    sem_init(&filled, 0, 0);
    pthread_create(&one, NULL, sender, NULL);
    pthread_create(&other, NULL, hasty, NULL);
    sem_wait(&filled);
    int got = message; // RACE!
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return got;
}
