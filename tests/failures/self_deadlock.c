// A thread that takes a normal mutex twice waits for itself.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int twice;

static void *worker(void *arg) {
    pthread_mutex_lock(&m);
    if (twice)
        pthread_mutex_lock(&m); // DEADLOCK
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    twice = 1;
    pthread_join(thread, NULL);
    return 0;
}
