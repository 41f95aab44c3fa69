// mbtowc and mblen keep a shift state that all threads share.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    wchar_t wide;
    mbtowc(&wide, "a", 1); // RACE!
    mblen("a", 1);         // RACE!
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
