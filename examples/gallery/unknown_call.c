// $ raceproof check unknown_call.c
// Nobody knows what a function without source does with the buffer.
#include <argz.h>
#include <pthread.h>
#include <stdlib.h>

static char block[4];

static void *worker(void *arg) {
    (void)arg;
    argz_stringify(block, sizeof block, ',');
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return block[0];
}
