// The signal may come before the wait.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void *signaller(void *arg) {
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, signaller, NULL);
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m); // DEADLOCK
    pthread_mutex_unlock(&m);
    pthread_join(thread, NULL);
    return 0;
}
