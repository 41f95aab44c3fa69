// CounterWithLock of the paper's table 1: any number of threads increment a counter under a lock.
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *increment(void *arg) {
    pthread_mutex_lock(&lock);
    counter = counter + 1; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, increment, 0);
    }
}
