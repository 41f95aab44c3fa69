// Values without identity: as many threads as a number from outside says, each with a part of a block of that size.
#include <pthread.h>
#include <raceproof.h>
#include <stdlib.h>

static void *worker(void *arg) {
    int *slot = arg;
    *slot += 1; // RACE!
    return NULL;
}

int main(void) {
    int n = raceproof_choose(1, 2);
    pthread_t *threads = malloc(n * sizeof *threads);
    int *slots = malloc(n * sizeof *slots);
    if (!threads || !slots)
        return 0;
    for (int i = 0; i < n; i++)
        slots[i] = i; // NORACE
    for (int i = 0; i < n; i++)
#ifdef RACY
        pthread_create(&threads[i], NULL, worker, slots);
#else
        pthread_create(&threads[i], NULL, worker, slots + i);
#endif
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    int last = slots[n - 1]; // NORACE
    free(slots);             // NORACE
    free(threads);
    return last;
}
