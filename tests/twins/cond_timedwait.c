// After a timeout the condition need not hold.
// Shows: threads: condition variables, with limits
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c;
static int ready, data;

static void *producer(void *arg) {
    data = 1; // RACE!
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    struct timespec limit = {.tv_sec = 1};
    pthread_cond_init(&c, NULL);
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&m);
    int result = 0;
    if (!ready)
        result = pthread_cond_timedwait(&c, &m, &limit);
    int ok = ready;
    pthread_mutex_unlock(&m);
#ifdef RACY
    ok = result == ETIMEDOUT || ok;
#endif
    if (ok)
        data = 2; // RACE!
    pthread_join(thread, NULL);
    pthread_cond_destroy(&c);
    return result == 1;
}
