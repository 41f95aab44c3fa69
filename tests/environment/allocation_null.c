// --environment allocation: a thread writes to memory that it did not get.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *arg) {
    int *block = malloc(sizeof *block);
#ifdef RIGHT
    if (!block)
        return arg;
#endif
    *block = 1; // CRASH
    free(block);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
