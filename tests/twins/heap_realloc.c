// realloc reads and frees the old block.
#include <pthread.h>
#include <stdlib.h>

static int *block;

static void *worker(void *arg) {
#ifdef RACY
    *block = 1; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    block = calloc(1, sizeof *block);
    pthread_create(&thread, NULL, worker, NULL);
    int *larger = realloc(block, 4096); // RACE!
    pthread_join(thread, NULL);
    free(larger);
    return 0;
}
