// No execution gets past its assumption, so none shows that what comes after is safe.
#include <pthread.h>

void __VERIFIER_assume(int condition);

static int shared;

static void *worker(void *arg) {
    shared = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifndef RACY
    __VERIFIER_assume(0);
#endif
    shared = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
