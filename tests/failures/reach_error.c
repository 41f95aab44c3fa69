// The error is reached, whatever its body does.
#include <pthread.h>
#include <stdatomic.h>

_Bool __VERIFIER_nondet_bool(void);

void reach_error(void) {
}

static atomic_int flag;

static void *worker(void *arg) {
    flag = __VERIFIER_nondet_bool();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    if (flag)
        reach_error(); // ASSERT
    pthread_join(thread, NULL);
    return 0;
}
