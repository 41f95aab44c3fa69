// Cancelling a thread costs no proof about locks.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    total++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    pthread_testcancel();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&lock);
    total++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    return total; // NORACE
}
