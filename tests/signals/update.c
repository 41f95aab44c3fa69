// A handler changes what the thread that it interrupts is changing. Right: it only sets a flag. Blocked: not meanwhile.
#include <pthread.h>
#include <signal.h>

#if defined RIGHT
static volatile sig_atomic_t count;
#else
static int count;
#endif

static void handler(int signal) {
    count = 5; // SIGNAL
}

static void *work(void *arg) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef BLOCKED
    pthread_sigmask(SIG_BLOCK, &set, 0);
#endif
    count++;
    count++;
#ifdef BLOCKED
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    pthread_create(&thread, 0, work, 0);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, 0);
    return 0;
}
