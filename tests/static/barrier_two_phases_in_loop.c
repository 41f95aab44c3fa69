// Barriers: two barriers per round keep reading and writing apart.
#include <pthread.h>

static pthread_barrier_t computed, stored;
static int cells[2];

static void *worker(void *arg) {
    int id = *(int *)arg;
    for (int round = 0; round < 2; round++) {
        int neighbour = cells[1 - id]; // RACE!
        pthread_barrier_wait(&computed);
        cells[id] = neighbour + 1; // RACE!
#ifndef RACY
        pthread_barrier_wait(&stored);
#endif
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    int ids[2] = {0, 1};
    pthread_barrier_init(&computed, NULL, 2);
    pthread_barrier_init(&stored, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return cells[0] + cells[1]; // NORACE
}
