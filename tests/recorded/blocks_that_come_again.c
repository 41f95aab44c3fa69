// A block at an address where another thread had one is another object.
#include <pthread.h>
#include <stdlib.h>

static int data;

static void *worker(void *unused) {
    for (int i = 0; i < 200; i++) {
        int *block = malloc(64);
        block[3] = i;
        free(block);
#ifdef RACY
        data++; // RACE!
#endif
    }
    return unused;
}

int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    return 0;
}
