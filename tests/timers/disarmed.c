// An alarm that is disarmed while its signal is blocked: the signal may be pending. Wrong: it is taken not to be.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void handler(int signal) {
    came++;
}

static void *work(void *arg) {
    return arg;
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
    alarm(0);
    pthread_sigmask(SIG_SETMASK, &old, 0);
    int seen = came;
    assert(seen <= 1);
#ifdef WRONG
    assert(seen == 0);
#endif
    pthread_join(thread, 0);
    assert(came == seen);
    return 0;
}
