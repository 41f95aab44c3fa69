// A barrier orders what is before it in every thread before what is after it in every thread.
#include <pthread.h>

static pthread_barrier_t barrier;
static int left, right;

static void *worker(void *arg) {
    left = 1; // NORACE
    pthread_barrier_wait(&barrier);
#ifdef RACY
    left = right; // RACE!
#else
    int seen = right;
    return seen ? arg : NULL;
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, worker, NULL);
    right = 1; // NORACE
    int serial = pthread_barrier_wait(&barrier);
    int seen = left; // RACE!
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    return serial == 9 && seen;
}
