// A function without source gets a pointer: nobody knows what it does with it.
#include <argz.h>
#include <pthread.h>

static char data[4];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg) {
    pthread_mutex_lock(&mutex);
    argz_stringify(data, sizeof data, ',');
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    return 0;
}
