// A lock made of an atomic function and an assumption.
#include <pthread.h>

void __VERIFIER_assume(int condition);

static int held, shared;

void __VERIFIER_atomic_acquire(void) {
    __VERIFIER_assume(held == 0);
    held = 1;
}

void __VERIFIER_atomic_release(void) {
    held = 0;
}

static void *worker(void *arg) {
#ifndef RACY
    __VERIFIER_atomic_acquire();
#endif
    shared = shared + 1; // RACE!
#ifndef RACY
    __VERIFIER_atomic_release();
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    __VERIFIER_atomic_acquire();
    shared = 5; // RACE!
    __VERIFIER_atomic_release();
    pthread_join(thread, NULL);
    return 0;
}
