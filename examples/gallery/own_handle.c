// $ raceproof explore own_handle.c
// The new thread reads the variable that its creator stores its handle in.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_t worker;

static void *work(void *arg) {
    pthread_setname_np(worker, "worker");
    return arg;
}

int main(void) {
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    return 0;
}
