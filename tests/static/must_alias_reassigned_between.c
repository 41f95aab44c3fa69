// Must-alias: the pointer changes between lock and unlock of another thread; what counts is its value at the call.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *current = &a;
static int data;

static void *worker(void *arg) {
    pthread_mutex_lock(&a);
    data++; // RACE!
    pthread_mutex_unlock(&a);
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    current = &b; // NORACE
#endif
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_t *held = current; // NORACE
    pthread_mutex_lock(held);
    current = &b; // NORACE
    data--; // RACE!
    pthread_mutex_unlock(held);
    pthread_join(thread, NULL);
    return data; // NORACE
}
