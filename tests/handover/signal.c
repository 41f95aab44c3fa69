// Handed over with a signal that is waited for.
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static int data;
static pthread_t waits;

static void *sender(void *arg) {
    data = 42;
    pthread_kill(waits, SIGHUP);
    return arg;
}

int main(void) {
    sigset_t set;
    int signal, seen;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return 2;
    waits = pthread_self();
    pthread_create(&thread, NULL, sender, NULL);
    if (sigwait(&set, &signal))
        return 3;
    seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
