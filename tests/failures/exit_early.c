// One thread ends the program with its own status while the other still works.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop;
static int work;

static void *worker(void *arg) {
    if (stop)
        exit(3);
    work++;
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    stop = 1;
    pthread_join(thread, NULL);
    return 0;
}
