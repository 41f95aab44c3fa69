// A termination handler frees a buffer while a worker still writes to it: cleanup belongs to the main loop, not to the handler.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static char *buffer;
static atomic_int stop;

static void on_terminate(int signal) {
    (void)signal;
    atomic_store(&stop, 1);
#ifndef RIGHT
    free(buffer); // RACE!
    buffer = NULL; // RACE!
#endif
}

static void *worker(void *arg) {
    for (int i = 0; i < 3 && !atomic_load(&stop); i++)
        buffer[i] = 'x'; // RACE! CRASH
    return arg;
}

int main(void) {
    pthread_t thread;
    buffer = calloc(3, 1);
    signal(SIGTERM, on_terminate);
    pthread_create(&thread, NULL, worker, NULL);
    raise(SIGTERM);
    pthread_join(thread, NULL);
    free(buffer);
    return 0;
}
