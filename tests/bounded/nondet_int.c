// The program compares with the value that matters, so it is tried; that no other matters is not known.
#include <pthread.h>

int __VERIFIER_nondet_int(void);

static int shared;

static void *worker(void *arg) {
    int chosen = __VERIFIER_nondet_int();
#ifdef RACY
    if (chosen > 4711)
        shared = 1; // RACE!
#endif
    return chosen == 4711 ? arg : NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    shared = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
