// The second thread touches `data` only if it sees that the first one is done with it.
#include <pthread.h>

static int data, ready;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *fill(void *arg) {
    data = 1;
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *use(void *arg) {
    pthread_mutex_lock(&m);
    int seen = ready;
    pthread_mutex_unlock(&m);
    if (seen)
        data = 2;
    return arg;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, fill, 0);
    pthread_create(&other, 0, use, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
