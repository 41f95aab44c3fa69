// A thread that is cancelled runs its cleanup handlers from a cancellation point, with the locks it holds there.
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

static void *work(void *arg) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(tidy, NULL);
    pthread_mutex_unlock(&lock);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&lock);
    total++; // RACE!
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return total; // NORACE
}
