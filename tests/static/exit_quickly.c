// A handler of `at_quick_exit` runs at `quick_exit`, while other threads go on.
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



static void *work(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    x++; // RACE!
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    at_quick_exit(count);
    pthread_create(&thread, NULL, work, NULL);
    quick_exit(0);
}
