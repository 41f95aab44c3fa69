// $ raceproof explore never_true.c
// An assumption that no run meets: nothing was seen to its end.
#include <pthread.h>

void __VERIFIER_assume(int condition);
static int state;

static void *work(void *arg) {
    (void)arg;
    __VERIFIER_assume(state == 3);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
