// Waits in a loop for a flag; with an argument the flag is set and signalled.
#include "rp.h"
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready;

static void *await(void *arg) {
    AT(pthread_mutex_lock(&lock));
    while (!LOAD(ready))
        AT(pthread_cond_wait(&changed, &lock));
    AT(pthread_mutex_unlock(&lock));
    return arg;
}

int main(int argc, char **argv) {
    pthread_t thread;
    AT(pthread_create(&thread, 0, await, 0));
    AT(pthread_mutex_lock(&lock));
    if (argc > 1) {
        STORE(ready, 1);
        AT(pthread_cond_signal(&changed));
    }
    AT(pthread_mutex_unlock(&lock));
    AT(pthread_join(thread, 0));
    return 0;
}
