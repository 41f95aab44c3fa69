// Locksets: what is held after a branch is what both branches hold.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int mode = 1, total;

static void add(int n) {
    if (mode) { // NORACE
        pthread_mutex_lock(&lock);
    } else {
#ifndef RACY
        pthread_mutex_lock(&lock);
#endif
    }
    total += n; // RACE!
#ifdef RACY
    if (mode) // NORACE
#endif
        pthread_mutex_unlock(&lock);
}

static void *worker(void *arg) {
    add(1);
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    mode = 0; // NORACE
#endif
    pthread_create(&thread, NULL, worker, NULL);
    add(2);
    pthread_join(thread, NULL);
    return total; // NORACE
}
