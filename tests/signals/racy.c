// A handler runs in the thread that raises the signal, and races with another one unless both hold the lock.
#include <pthread.h>
#include <signal.h>

static int seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void handler(int signal) {
#ifdef LOCKED
    pthread_mutex_lock(&lock);
#endif
    seen = signal;
#ifdef LOCKED
    pthread_mutex_unlock(&lock);
#endif
}

static void *run(void *arg) {
    raise(SIGUSR1);
    return arg;
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, handler);
    signal(SIGPIPE, SIG_IGN);
    pthread_create(&thread, 0, run, 0);
    pthread_mutex_lock(&lock);
    seen = 0;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
