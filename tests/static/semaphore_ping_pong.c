// Semaphores as signals: two semaphores pass the turn to and fro.
#include <pthread.h>
#include <semaphore.h>

static sem_t ping, pong;
static int ball;

static void *player(void *arg) {
    for (int i = 0; i < 2; i++) {
        sem_wait(&ping);
        ball++; // RACE!
        sem_post(&pong);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    sem_init(&ping, 0, 0);
    sem_init(&pong, 0, 0);
    pthread_create(&thread, NULL, player, NULL);
    for (int i = 0; i < 2; i++) {
#ifdef RACY
        sem_post(&ping);
        ball++; // RACE!
#else
        ball++; // NORACE
        sem_post(&ping);
#endif
        sem_wait(&pong);
    }
    pthread_join(thread, NULL);
    return ball; // NORACE
}
