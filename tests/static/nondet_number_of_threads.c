// Values without identity: how many threads there are, and how large their array is, comes from outside.
#include <pthread.h>
#include <raceproof.h>
#include <stdlib.h>

static int *results;

struct job {
    int *slot;
};

static void *worker(void *arg) {
    struct job *job = arg;
    *job->slot = 1; // RACE!
    return NULL;
}

int main(void) {
    int n = raceproof_choose(1, 2);
    pthread_t *threads = malloc(n * sizeof *threads);
    struct job *jobs = malloc(n * sizeof *jobs);
    results = malloc(n * sizeof *results);
    if (!threads || !jobs || !results)
        return 0;
    for (int i = 0; i < n; i++) {
#ifdef RACY
        jobs[i].slot = results; // NORACE
#else
        jobs[i].slot = &results[i]; // NORACE
#endif
        pthread_create(&threads[i], NULL, worker, &jobs[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return results[0]; // NORACE
}
