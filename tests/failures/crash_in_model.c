// The fault happens inside the runtime's model of a thread function. The other threads go on using the model.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *initialises_nothing(void *arg) {
    pthread_mutex_init((pthread_mutex_t *)8, 0); // CRASH
    return arg;
}

static void *counts(void *arg) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t bad, good;
    pthread_create(&bad, 0, initialises_nothing, 0);
    pthread_create(&good, 0, counts, 0);
    counts(0);
    pthread_join(good, 0);
    return 0;
}
