// A thread blocks the signals that its attributes name, whatever its creator blocks.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reloads;

static void *wait_for_signal(void *arg) {
    int signal;
    if (sigwait(arg, &signal) || signal != SIGHUP)
        return NULL;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    reloads++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    sigset_t set, stored;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    assert(pthread_attr_getsigmask_np(&attributes, &stored) == PTHREAD_ATTR_NO_SIGMASK_NP);
    assert(pthread_attr_setsigmask_np(&attributes, &set) == 0);
    assert(pthread_attr_getsigmask_np(&attributes, &stored) == 0 && sigismember(&stored, SIGHUP));
    pthread_t thread;
    pthread_create(&thread, &attributes, wait_for_signal, &set);
    pthread_attr_destroy(&attributes);
    assert(pthread_kill(thread, SIGHUP) == 0);
    pthread_mutex_lock(&lock);
    reloads++; // RACE!
    pthread_mutex_unlock(&lock);
    void *result;
    pthread_join(thread, &result);
    assert(result == &set);
    return 0;
}
