// setenv may move the array that environ points to.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *worker(void *arg) {
    return environ ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
#ifndef RACY
    setenv("TWIN_VARIABLE", "1", 1);
#endif
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    setenv("TWIN_VARIABLE", "1", 1); // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
