// Barriers: everything before the barrier is ordered before everything behind it.
#include <pthread.h>

static pthread_barrier_t barrier;
static int halves[2], sums[2];

static void *worker(void *arg) {
    int id = *(int *)arg;
    halves[id] = id + 1; // RACE!
#ifndef RACY
    pthread_barrier_wait(&barrier);
#endif
    sums[id] = halves[0] + halves[1]; // RACE!
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
    return sums[0] - sums[1]; // NORACE
}
