// abort in a thread that saw the flag.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop;

static void *worker(void *arg) {
    if (stop)
        abort(); // CRASH
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    stop = 1;
    pthread_join(thread, NULL);
    return 0;
}
