// A pointer is used before the other thread has set it.
#include <pthread.h>

static int value = 3;
static int *pointer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *publish(void *arg) {
    pthread_mutex_lock(&mutex);
    pointer = &value;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, publish, 0);
    pthread_mutex_lock(&mutex);
    int *seen = pointer;
    pthread_mutex_unlock(&mutex);
    int result = *seen;
    pthread_join(thread, 0);
    return result;
}
