// Semaphores as signals: a semaphore that has a token at first lets somebody through before it is posted.
#include <pthread.h>
#include <semaphore.h>

#ifdef RACY
#define TOKENS 1
#else
#define TOKENS 0
#endif
static sem_t filled;
static int message;

static void fill(void) {
    message = 7; // RACE!
    sem_post(&filled);
}

static void *sender(void *arg) {
    fill();
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&filled, 0, TOKENS);
    pthread_create(&thread, NULL, sender, NULL);
    sem_wait(&filled);
    int got = message; // RACE!
    pthread_join(thread, NULL);
    return got;
}
