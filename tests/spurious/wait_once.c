// A wait that is not in a loop is enough as long as nobody wakes up without a signal.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void *producer(void *arg) {
    data = 1; // RACE!
    pthread_mutex_lock(&m);
    ready = 1; // NORACE
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&m);
    if (!ready) // NORACE
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    data = 2; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
