// Condition variables: a wait that may time out holds the lock afterwards all the same.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tick = PTHREAD_COND_INITIALIZER;
static int ticks, timeouts;

static void *clock_thread(void *arg) {
    pthread_mutex_lock(&lock);
    ticks++; // RACE!
    pthread_cond_signal(&tick);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec until = {0, 0};
    pthread_create(&thread, NULL, clock_thread, NULL);
    pthread_mutex_lock(&lock);
    if (ticks == 0 && pthread_cond_timedwait(&tick, &lock, &until) != 0) { // NORACE
#ifdef RACY
        pthread_mutex_unlock(&lock);
        ticks = -1; // RACE!
        pthread_mutex_lock(&lock);
#endif
        timeouts++; // NORACE
    }
    int n = ticks; // NORACE
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return n + timeouts; // NORACE
}
