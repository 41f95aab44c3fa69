// Barriers: one thread of each round gets the special result and works for all.
#include <pthread.h>

static pthread_barrier_t barrier;
static int rounds, parts[2];

static void *worker(void *arg) {
    int id = *(int *)arg;
    parts[id] = id; // NORACE
    int serial = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
#ifndef RACY
    if (serial)
#endif
        rounds += parts[0] + parts[1] + serial; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int ids[2] = {0, 1};
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return rounds; // NORACE
}
