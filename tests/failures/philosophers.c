// Each takes the fork on the left, then the one on the right.
#include <pthread.h>

enum { COUNT = 3 };
static pthread_mutex_t forks[COUNT] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *philosopher(void *arg) {
    long seat = (long)arg;
    pthread_mutex_lock(&forks[seat]);
    pthread_mutex_lock(&forks[(seat + 1) % COUNT]); // DEADLOCK
    pthread_mutex_unlock(&forks[(seat + 1) % COUNT]);
    pthread_mutex_unlock(&forks[seat]);
    return NULL;
}

int main(void) {
    pthread_t threads[COUNT];
    for (long seat = 0; seat < COUNT; seat++)
        pthread_create(&threads[seat], NULL, philosopher, (void *)seat);
    for (int seat = 0; seat < COUNT; seat++)
        pthread_join(threads[seat], NULL); // DEADLOCK
    return 0;
}
