// May happen in parallel: one thread at a time, created and joined in each iteration.
#include <pthread.h>

static int log_size;

static void *append(void *arg) {
    log_size++; // RACE!
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, append, NULL);
#ifndef RACY
        pthread_join(threads[i], NULL);
        log_size++; // NORACE
#endif
    }
#ifdef RACY
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
#endif
    return log_size; // NORACE
}
