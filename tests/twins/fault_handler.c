// A handler of faults that none happens for. Racy: two threads increment a variable.
// Shows: signals: handlers of faults, where no fault happens
#include <pthread.h>
#include <signal.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) {
    count = signal;
}

static void *work(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    count++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGSEGV, handler);
    signal(SIGABRT, handler);
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
