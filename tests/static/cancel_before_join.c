// A thread that is cancelled while it waits for another has not waited: what it leaves behind may still run.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void tidy(void *arg) {
    (void)arg;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *child(void *arg) {
    pthread_mutex_lock(&lock);
    total++; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *work(void *arg) {
    pthread_t thread;
    pthread_create(&thread, NULL, child, NULL);
    pthread_cleanup_push(tidy, NULL);
    pthread_join(thread, NULL);
    pthread_cleanup_pop(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return 0;
}
