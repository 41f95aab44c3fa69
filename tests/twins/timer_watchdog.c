// An alarm that is disarmed in time, or not. Racy: its handler shares a variable with the thread that it may interrupt no more.
// Shows: timers: an alarm that is disarmed: it may have expired before
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t seen;
static int steps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) {
    seen = signal;
}

static void *work(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    steps++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t set, old;
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&thread, 0, work, 0);
    pthread_sigmask(SIG_SETMASK, &old, 0);
    assert(alarm(60) == 0);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    steps++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    unsigned left = alarm(0);
    assert(seen ? left == 0 : left > 0 && left <= 60);
    pthread_join(thread, 0);
    return 0;
}
