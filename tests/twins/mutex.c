// A mutex protects only what both sides access under it.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int counter, other;

static void *worker(void *arg) {
    (void)arg;
    pthread_mutex_lock(&m);
    counter++; // RACE!
    other++; // NORACE
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    counter++; // RACE!
#endif
    pthread_mutex_lock(&m);
    counter++; // NORACE
    other++; // NORACE
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return counter;
}
