// A function that is declared to change nothing is logged like any other.
#include <pthread.h>
#include <stdlib.h>

static int data;

static int table[16];

__attribute__((pure, noinline)) static int look(int at) { return table[at % 16]; }

static void *worker(void *self) {
    int own = 0;
    for (int i = 0; i < 100; i++) {
        own += look(i);
#ifdef RACY
        data++; // RACE!
#endif
        own += look(i + 1);
    }
    return own ? self : NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
