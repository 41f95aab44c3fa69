// Semaphores as locks: a semaphore that starts at one.
#include <pthread.h>
#include <semaphore.h>

static sem_t gate;
static int visitors;

static void *visit(void *arg) {
    sem_wait(&gate);
    visitors++; // RACE!
    sem_post(&gate);
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    sem_init(&gate, 0, 2);
#else
    sem_init(&gate, 0, 1);
#endif
    pthread_create(&thread, NULL, visit, NULL);
    visit(NULL);
    pthread_join(thread, NULL);
    return visitors; // NORACE
}
