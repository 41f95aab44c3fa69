// A library that is not analysed: it makes a thread, and has a lock of its own.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t worker;
static void (*job)(void);

static void *run(void *arg) {
    (void)arg;
    job();
    return 0;
}

int workers_start(void (*function)(void)) {
    job = function;
    return pthread_create(&worker, 0, run, 0);
}

void workers_wait(void) { pthread_join(worker, 0); }
void workers_enter(void) { pthread_mutex_lock(&mutex); }
void workers_leave(void) { pthread_mutex_unlock(&mutex); }
