// Long stretches without synchronisation: bytes beside each other are logged apart.
#include <pthread.h>
#include <stdlib.h>
#define COUNT 400000

static char *block;

static void *worker(void *argument) {
    long self = (long)argument;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++) block[2 * i + self] += i; // RACE!
#ifdef RACY
    if (self) block[2 * 77777] = 1; // RACE!
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    block = malloc(2 * COUNT);
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
