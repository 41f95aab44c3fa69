// A thread reads signals from a descriptor: what was done before one was sent comes before what follows.
// Shows: signals: signals behind a descriptor (`signalfd`), read and waited for
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static int data;
static int signals;

static void *wait_for_it(void *arg) {
    struct signalfd_siginfo got[2];
    struct pollfd wanted = {.fd = signals, .events = POLLIN};
    int ready = poll(&wanted, 1, -1);
    assert(ready == 1);
#ifdef RACY
    data++; // RACE!
#endif
    long len = read(signals, got, sizeof got);
    assert(len == sizeof *got && got[0].ssi_signo == SIGUSR1);
#ifndef RACY
    data++;
#endif
    return arg;
}

int main(void) {
    sigset_t set;
    pthread_t thread;
    struct signalfd_siginfo got;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signals = signalfd(-1, &set, SFD_NONBLOCK);
    assert(signals >= 0);
    assert(read(signals, &got, sizeof got) == -1);
    assert(read(signals, &got, 4) == -1);
    pthread_create(&thread, NULL, wait_for_it, NULL);
    data = 1; // RACE!
    kill(getpid(), SIGUSR1);
#ifdef RACY
    data = 2; // RACE!
#endif
    pthread_join(thread, NULL);
    close(signals);
    return 0;
}
