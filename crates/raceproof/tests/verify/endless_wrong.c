// Threads without number count under two locks: the second one protects nothing.
#include <pthread.h>

static int counter;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t wrong = PTHREAD_MUTEX_INITIALIZER;

static void *increment(void *arg) {
    pthread_mutex_lock(&right);
    counter++; // RACE!
    pthread_mutex_unlock(&right);
    pthread_mutex_lock(&wrong);
    counter--; // RACE!
    pthread_mutex_unlock(&wrong);
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, increment, 0);
        pthread_detach(thread);
    }
}
