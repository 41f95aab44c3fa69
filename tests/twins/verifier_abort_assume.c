// Aborting in `assume_abort_if_not` cuts the path and is no crash.
#include <pthread.h>
#include <stdlib.h>

int __VERIFIER_nondet_bool(void);

void assume_abort_if_not(int condition) {
    if (!condition)
        abort();
}

static int shared;

static void *worker(void *arg) {
    int chosen = __VERIFIER_nondet_bool() & 1;
#ifndef RACY
    assume_abort_if_not(!chosen);
#endif
    if (chosen)
        shared = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    shared = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
