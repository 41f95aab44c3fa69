// Enough schedules for a search of some seconds.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[3][6] = {{4}, {4}, {5}}, next;

static void *work(void *arg) {
    int *own = arg;
    for (int i = 0; i < own[0]; i++) {
        pthread_mutex_lock(&lock);
        own[i + 1] = next++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, order[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
