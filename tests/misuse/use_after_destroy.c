#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&m); // MISUSE destroyed
    pthread_mutex_unlock(&m); // MISUSE destroyed
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_destroy(&m);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
