// A timer that repeats, waited for with `sigwait`. Racy: what the waiting thread counts is read without a wait for it.
// Shows: timers: `setitimer`, with a signal that is waited for
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static int ticks;

static void *wait(void *arg) {
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    for (int i = 0; i < 2; i++) {
        assert(sigwait(&set, &signal) == 0 && signal == SIGALRM);
        ticks++; // RACE!
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    struct itimerval every = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}}, old;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    assert(setitimer(ITIMER_REAL, &every, 0) == 0);
    pthread_create(&thread, 0, wait, 0);
#ifdef RACY
    int seen = ticks; // RACE!
    pthread_join(thread, 0);
#else
    pthread_join(thread, 0);
    int seen = ticks;
    assert(seen == 2);
#endif
    assert(setitimer(ITIMER_REAL, &none, &old) == 0);
    assert(old.it_interval.tv_sec == 0 && old.it_interval.tv_usec == 1000);
    return seen > 2;
}
