// Counters with condition variables as a join: a flag set by the only worker as its last act.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;
static int done;
static int report;

static void *worker(void *arg) {
#ifndef RACY
    report = 3; // NORACE
#endif
    pthread_mutex_lock(&lock);
    done = 1; // NORACE
    pthread_cond_signal(&done_changed);
    pthread_mutex_unlock(&lock);
#ifdef RACY
    report = 3; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_detach(thread);
    pthread_mutex_lock(&lock);
    while (!done) // NORACE
        pthread_cond_wait(&done_changed, &lock);
    pthread_mutex_unlock(&lock);
    report++; // RACE!
    return report; // RACE!
}
