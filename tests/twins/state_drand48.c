// drand48 and its relatives share one generator, which the library does not lock.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    double number = drand48(); // RACE!
    long other = lrand48();    // RACE!
    (void)number, (void)other;
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
