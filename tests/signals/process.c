// A signal to the process is handled by a thread that does not block it. Racy: the handler and its sender share a variable.
// Shows: signals: signals to the process that another thread handles (`kill`)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int handled;
static int last;

static void handler(int signal) {
#ifdef RACY
    last = signal; // RACE!
#endif
    handled = 1;
}

static void *work(void *arg) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    while (!handled)
        ;
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    signal(SIGTERM, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, work, 0);
    kill(getpid(), SIGTERM);
#ifdef RACY
    last = 0; // RACE!
#endif
    pthread_join(thread, 0);
    return last;
}
