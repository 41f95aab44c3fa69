// sem_trywait and sem_timedwait count only when they take one; sem_getvalue orders nothing.
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t sem;
static int data;

static void *producer(void *arg) {
    data = 1; // RACE!
    sem_post(&sem);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec limit = {.tv_sec = 1};
    int value = 0;
    sem_init(&sem, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    int taken = sem_trywait(&sem) == 0 || sem_timedwait(&sem, &limit) == 0;
#ifdef RACY
    sem_getvalue(&sem, &value);
    taken = taken || value == 0;
#endif
    if (taken)
        data = 2; // RACE!
    pthread_join(thread, NULL);
    return value == 9;
}
