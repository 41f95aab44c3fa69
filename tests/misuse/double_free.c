#include <pthread.h>
#include <stdlib.h>

static void *worker(void *arg) {
    free(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *block = malloc(8);
    pthread_create(&thread, NULL, worker, block);
    pthread_join(thread, NULL);
    free(block); // MISUSE free
    return 0;
}
