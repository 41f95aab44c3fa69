// Lock-ReadWriteOnly of the paper's table 1: reading and writing are locked, what happens in between is not. There is no
// data race, and yet updates get lost.
#include <pthread.h>

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *update(void *arg) {
    pthread_mutex_lock(&lock);
    int local = shared; // NORACE
    pthread_mutex_unlock(&lock);
    local = local * 2 + 1;
    pthread_mutex_lock(&lock);
    shared = local; // NORACE
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, update, 0);
    }
}
