// Semaphores as signals: the post is ordered before the wait that it lets through.
#include <pthread.h>
#include <semaphore.h>

static sem_t filled;
static int message;

static void *sender(void *arg) {
#ifdef RACY
    sem_post(&filled);
    message = 7; // RACE!
#else
    message = 7; // NORACE
    sem_post(&filled);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&filled, 0, 0);
    pthread_create(&thread, NULL, sender, NULL);
    sem_wait(&filled);
    int got = message; // RACE!
    pthread_join(thread, NULL);
    return got;
}
