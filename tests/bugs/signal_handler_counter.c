// A signal handler that updates a plain counter which another thread updates under its lock: the handler cannot take it.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef RIGHT
static atomic_int events;
#else
static volatile int events;
#endif

static void on_signal(int signal) {
    (void)signal;
    events++; // RACE!
}

static void *worker(void *arg) {
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        events++; // RACE!
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    raise(SIGUSR1);
    pthread_join(thread, NULL);
    return events == 3 ? 0 : 1;
}
