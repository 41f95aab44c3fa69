// A thread unlocks a mutex that it has not locked.
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *careless(void *arg) {
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, careless, 0);
    pthread_join(thread, 0);
    return 0;
}
