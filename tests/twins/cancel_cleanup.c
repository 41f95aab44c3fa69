// A cleanup handler releases the lock of a thread cancelled while it waits.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int data;

static void release(void *arg) {
#ifdef RACY
    pthread_mutex_unlock(&m);
    data++; // RACE!
#else
    data++;
    pthread_mutex_unlock(&m);
#endif
    (void)arg;
}

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(release, NULL);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(1);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_cancel(thread);
    pthread_mutex_lock(&m);
    data++; // RACE!
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
