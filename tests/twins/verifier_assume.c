// An assumption that does not hold keeps its thread from going on, and nobody else.
#include <pthread.h>

_Bool __VERIFIER_nondet_bool(void);
void __VERIFIER_assume(int condition);

static int guarded, other;

static void *worker(void *arg) {
    _Bool chosen = __VERIFIER_nondet_bool();
    __VERIFIER_assume(chosen);
#ifdef RACY
    if (chosen)
#else
    if (!chosen)
#endif
        guarded = 1; // RACE!
    return arg;
}

static void *bystander(void *arg) {
    other = 1;
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, bystander, NULL);
    guarded = 2; // RACE!
    pthread_join(two, NULL);
    other = 2;
    return 0;
}
