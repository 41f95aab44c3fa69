// The handler of an alarm stops a loop. Racy: it also changes what another thread reads.
// Shows: timers: `alarm`: its signal comes at any time, in any thread that does not block it
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int value;

static void handler(int signal) {
    seen = signal;
#ifdef RACY
    value = 1; // RACE!
#endif
}

static void *work(void *arg) {
    return value == 2 ? arg : 0; // RACE!
}

int main(void) {
    pthread_t thread;
    sigset_t set, old;
    signal(SIGALRM, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&thread, 0, work, 0);
    alarm(1);
    while (!seen)
        sigsuspend(&old);
    pthread_join(thread, 0);
    return seen != SIGALRM;
}
