// A thread waits for a handler that another thread's signal runs in it. Racy: the value is written after the signal was sent.
// Shows: signals: handlers that interrupt another thread (`pthread_kill`)
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t came;
static int value;

static void handler(int signal) {
    came = 1;
}

static void *wait(void *arg) {
    sigset_t none;
    sigemptyset(&none);
    while (!came)
        sigsuspend(&none);
    return value == 1 ? arg : 0; // RACE!
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, wait, 0);
#ifdef RACY
    pthread_kill(thread, SIGUSR1);
    value = 1; // RACE!
#else
    value = 1;
    pthread_kill(thread, SIGUSR1);
#endif
    pthread_join(thread, 0);
    return 0;
}
