// A signal handler that takes the lock which the code it interrupts may hold (signal-safety(7)).
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pending, handled;

static void report(int signal) {
    (void)signal;
    pthread_mutex_lock(&lock); // DEADLOCK
    handled = pending;
    pthread_mutex_unlock(&lock);
}

static void *producer(void *arg) {
    pthread_mutex_lock(&lock);
    pending++;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void flush(void) {
    pthread_mutex_lock(&lock); // DEADLOCK
    int many = pending;
#ifdef RIGHT
    pthread_mutex_unlock(&lock);
    if (many > 0)
        kill(getpid(), SIGUSR1);
#else
    if (many > 0)
        kill(getpid(), SIGUSR1);
    pthread_mutex_unlock(&lock);
#endif
}

int main(void) {
    pthread_t thread;
    signal(SIGUSR1, report);
    pthread_create(&thread, NULL, producer, NULL);
    flush();
    pthread_join(thread, NULL);
    return handled > 1;
}
