// A polling loop with a lock inside, and what comes after it.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, data, after;

static void *worker(void *arg) {
    data = 1;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
#ifdef RACY
    after = 1; // RACE!
#endif
    return arg;
}

static int is_ready(void) {
    pthread_mutex_lock(&lock);
    int seen = ready;
    pthread_mutex_unlock(&lock);
    return seen;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    while (!is_ready())
        sched_yield();
    data = 2;
    after = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
