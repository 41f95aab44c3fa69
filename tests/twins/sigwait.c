// A thread that waits for signals: every thread blocks them, so nothing interrupts anybody.
// Shows: signals: signals that threads block and wait for (`sigwait`, `pthread_kill`)
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reloads, stops;

static void *wait_for_signals(void *arg) {
    sigset_t *set = arg;
    for (;;) {
        int signal;
        if (sigwait(set, &signal))
            return NULL;
        if (signal == SIGTERM) {
            stops++;
            return NULL;
        }
#ifndef RACY
        pthread_mutex_lock(&lock);
#endif
        reloads++; // RACE!
#ifndef RACY
        pthread_mutex_unlock(&lock);
#endif
    }
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return 1;
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_signals, &set);
    if (pthread_kill(thread, SIGHUP))
        return 2;
    pthread_mutex_lock(&lock);
    reloads++; // RACE!
    pthread_mutex_unlock(&lock);
    if (pthread_kill(thread, SIGTERM))
        return 3;
    pthread_join(thread, NULL);
    return stops == 1 ? 0 : 4;
}
