// Thread-specific slots: the slots are in one heap block, and each thread is told which is its own.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define WORKERS 2
static long *sums;

static void *worker(void *arg) {
    intptr_t id = (intptr_t)arg;
    for (int i = 0; i < 2; i++)
        sums[id] += i; // RACE!
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    sums = calloc(WORKERS, sizeof *sums);
    if (!sums)
        return 1;
    for (intptr_t i = 0; i < WORKERS; i++)
#ifdef RACY
        pthread_create(&threads[i], NULL, worker, (void *)(i * 0));
#else
        pthread_create(&threads[i], NULL, worker, (void *)i);
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    long sum = sums[0] + sums[1]; // NORACE
    free(sums);                   // NORACE
    return (int)sum;
}
