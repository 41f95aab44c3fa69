// A function without source gets a pointer: nobody knows what it does with it.
#include <pthread.h>

__attribute__((weak)) void frobnicate(int *data);
static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&mutex);
    if (frobnicate)
        frobnicate(&data);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
