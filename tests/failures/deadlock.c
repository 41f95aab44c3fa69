// Two locks in opposite orders.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *worker(void *arg) {
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); // DEADLOCK
    counter++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); // DEADLOCK
    counter++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_join(thread, NULL);
    return 0;
}
