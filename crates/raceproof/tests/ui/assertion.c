// The order of two threads decides whether an assertion holds.
#include <assert.h>
#include <pthread.h>

static int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *arg) {
    pthread_mutex_lock(&mutex);
    turn = 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&mutex);
    assert(turn == 1);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
