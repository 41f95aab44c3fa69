// sem_clockwait and pthread_clockjoin_np order only when they succeed.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t sem;
static int first, second;

static void *producer(void *arg) {
    first = 1; // RACE!
    sem_post(&sem);
    second = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec limit = {.tv_sec = 1 << 30};
    sem_init(&sem, 0, 0);
    pthread_create(&thread, NULL, producer, NULL);
    int taken = sem_clockwait(&sem, CLOCK_MONOTONIC, &limit) == 0;
    int joined = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &limit) == 0;
#ifdef RACY
    int ready = 1;
#else
    int ready = 0;
#endif
    if (taken || joined || ready)
        first++; // RACE!
    if (joined || ready)
        second++; // RACE!
    if (!joined)
        pthread_join(thread, NULL);
    return 0;
}
