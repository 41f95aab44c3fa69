// The flag of a condition variable is read under the mutex; what it announces is written before.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void *producer(void *arg) {
#ifdef RACY
    pthread_mutex_lock(&m);
    ready = 1; // NORACE
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    data = 42; // RACE!
#else
    data = 42;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, NULL);
    pthread_mutex_lock(&m);
    while (!ready) // NORACE
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    int seen = data; // RACE!
    pthread_join(thread, NULL);
    return seen == 9;
}
