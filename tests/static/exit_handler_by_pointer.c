// A handler that is not constant is registered.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void count(void) {
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    x++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
}

static void nothing(void) {
}

static void (*handlers[2])(void) = {nothing, count};

static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    atexit(handlers[(long)&thread != 1]); // NORACE
    pthread_create(&thread, NULL, work, NULL);
    return 0;
}
