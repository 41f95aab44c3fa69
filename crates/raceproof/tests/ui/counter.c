// Two threads add to a counter; only one of them takes the lock.
#include <pthread.h>

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *careful(void *arg) {
    pthread_mutex_lock(&mutex);
    counter = counter + 1; // RACE!
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *careless(void *arg) {
    counter = 10; // RACE!
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, careful, 0);
    pthread_create(&two, 0, careless, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return counter == 0; // NORACE
}
