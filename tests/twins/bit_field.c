// Bit-fields of one storage unit are one memory location; a zero-width field separates them.
#include <pthread.h>

static struct {
    unsigned a : 3;
#ifndef RACY
    unsigned : 0;
#endif
    unsigned b : 3;
} flags;

static void *worker(void *arg) {
    flags.a = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    flags.b = 1; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
