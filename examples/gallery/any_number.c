// $ raceproof explore any_number.c
// The program leaves a number open: four billion values are too many to try.
#include <pthread.h>

int __VERIFIER_nondet_int(void);
static int chosen;

static void *work(void *arg) {
    (void)arg;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    chosen = __VERIFIER_nondet_int();
    pthread_join(thread, NULL);
    return chosen == 7;
}
