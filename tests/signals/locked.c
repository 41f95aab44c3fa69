// A handler takes the lock that the thread holds which it interrupts. Right: the signal is blocked meanwhile.
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void handler(int signal) {
    pthread_mutex_lock(&lock); // DEADLOCK
    count++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *arg) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef RIGHT
    pthread_sigmask(SIG_BLOCK, &set, 0);
#endif
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
#ifdef RIGHT
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
