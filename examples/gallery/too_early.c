// $ raceproof check too_early.c
// The worker follows a pointer that may not be set yet.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int configuration = 3;
static int *_Atomic current;

static void *worker(void *arg) {
    (void)arg;
    return *atomic_load(&current) > 3 ? &configuration : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    atomic_store(&current, &configuration);
    pthread_join(thread, NULL);
    return 0;
}
