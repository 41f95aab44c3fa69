// A lock held across create: the new thread does not hold it.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started, seen;

static void *child(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    seen = started; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, child, NULL);
    started = 1; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return seen; // NORACE
}
