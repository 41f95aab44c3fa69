// A value chosen in an atomic section; what the section wrote is undone when its assumption fails.
#include <pthread.h>

void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int condition);
_Bool __VERIFIER_nondet_bool(void);

static int flag, shared;

static void *worker(void *arg) {
    __VERIFIER_atomic_begin();
    flag = __VERIFIER_nondet_bool() ? 3 : 4;
#ifndef RACY
    __VERIFIER_assume(flag != 3);
#endif
    __VERIFIER_atomic_end();
    return arg;
}

static void *writer(void *arg) {
    __VERIFIER_atomic_begin();
    int seen = flag;
    __VERIFIER_atomic_end();
    if (seen == 3)
        shared = 1; // RACE!
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, writer, NULL);
    shared = 2; // RACE!
    return 0;
}
