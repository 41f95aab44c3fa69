// A thread may arrive at a barrier again before others have left it.
#include <pthread.h>
#define THREADS 3
#define ROUNDS 200

static pthread_barrier_t barrier;
static int cells[THREADS], sums[THREADS];

static void *worker(void *argument) {
    long self = (long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        cells[self] = round; // RACE!
        pthread_barrier_wait(&barrier);
        sums[self] += cells[(self + 1) % THREADS]; // RACE!
#ifndef RACY
        pthread_barrier_wait(&barrier);
#endif
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    return 0;
}
