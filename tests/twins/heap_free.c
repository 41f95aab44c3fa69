// Freeing is a write: a use that is not ordered before it races.
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *worker(void *arg) {
    (void)arg;
    return *block ? block : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    block = malloc(sizeof *block);
    *block = 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    free(block); // RACE!
    pthread_join(thread, NULL);
#else
    pthread_join(thread, NULL);
    free(block);
#endif
    return 0;
}
