// Wrappers: locking through functions of one's own.
#include <pthread.h>

static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void enter(void) {
    pthread_mutex_lock(&big_lock);
}

static void leave(void) {
    pthread_mutex_unlock(&big_lock);
}

static void *worker(void *arg) {
    enter();
    jobs++; // RACE!
    leave();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    enter();
#ifdef RACY
    leave();
    jobs--; // RACE!
#else
    jobs--; // NORACE
    leave();
#endif
    pthread_join(thread, NULL);
    return jobs; // NORACE
}
