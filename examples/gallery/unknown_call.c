// $ raceproof check unknown_call.c
// Nobody knows what a function without source does with the buffer.
#include <pthread.h>
#include <stdlib.h>

__attribute__((weak)) void compress_block(int *block);
static int block[4];

static void *worker(void *arg) {
    (void)arg;
    if (compress_block)
        compress_block(block);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return block[0];
}
