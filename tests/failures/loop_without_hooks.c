// An endless loop that touches nothing shared.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *worker(void *arg) {
    if (flag) // SPIN (the last visible operation before the loop)
        for (volatile int local = 0;; local++)
            ;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    flag = 1;
    pthread_join(thread, NULL);
    return 0;
}
