#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t *m;

static void *worker(void *arg) {
    pthread_mutex_lock(m);
    free(m); // MISUSE held
    return arg;
}

int main(void) {
    pthread_t thread;
    m = malloc(sizeof *m);
    pthread_mutex_init(m, NULL);
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    return 0;
}
