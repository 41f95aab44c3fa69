// l64a answers in a buffer of the library.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    char *text = l64a(12345); // RACE!
    (void)text[0];            // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
