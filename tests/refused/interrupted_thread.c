// A signal that another thread handles, wherever it is.
// Shows: signals: signals that interrupt another thread
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int seen, stop;

static void handler(int signal) {
    seen = signal;
}

static void *work(void *arg) {
    while (!stop)
        ;
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, NULL, work, NULL);
    pthread_kill(thread, SIGUSR1); // REFUSED sends another thread a signal that it handles
    stop = 1;
    pthread_join(thread, NULL);
    return 0;
}
