// posix_memalign stores the address of a new block.
#include <pthread.h>
#include <stdlib.h>

static void *block;

static void *worker(void *arg) {
    *(int *)block = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    if (posix_memalign(&block, 64, 64))
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    ((int *)block)[0] = 2; // RACE!
#else
    ((int *)block)[1] = 2;
#endif
    pthread_join(thread, NULL);
    free(block);
    return 0;
}
