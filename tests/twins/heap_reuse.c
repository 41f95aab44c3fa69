// A block that is freed and allocated again is another object: no race between its two lives.
#include <pthread.h>
#include <stdlib.h>

static int leaked;

static void *worker(void *arg) {
    int *mine = malloc(sizeof *mine);
    *mine = 1; // NORACE
    free(mine);
    int *again = malloc(sizeof *again);
    *again = 2; // NORACE
#ifdef RACY
    leaked = *again; // RACE!
#endif
    free(again);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return leaked == 9;
}
