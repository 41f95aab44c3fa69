// --environment creation: where the second thread cannot be created, its work is done beside the first.
#include <pthread.h>
#include <stddef.h>

static int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *increment(void *arg) {
    pthread_mutex_lock(&mutex);
    data++; // RACE!
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t first, second;
    if (pthread_create(&first, NULL, increment, NULL))
        return 0;
    int created = pthread_create(&second, NULL, increment, NULL) == 0;
    if (!created) {
#ifdef RIGHT
        increment(NULL);
#else
        data++; // RACE!
#endif
    }
    pthread_join(first, NULL);
    if (created)
        pthread_join(second, NULL);
    return 0;
}
