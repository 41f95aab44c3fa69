// A handle is given to a thread that joins; who joins that one comes after both.
#include <pthread.h>

static int x;

static void *work(void *arg) {
    (void)arg;
    x++; // RACE!
    return NULL;
}

static void *joiner(void *arg) {
    pthread_join(*(pthread_t *)arg, NULL); // NORACE
    return NULL;
}

int main(void) {
    pthread_t worker, waiter;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&waiter, NULL, joiner, &worker);
#ifdef RACY
    x++; // RACE!
    pthread_join(waiter, NULL);
#else
    pthread_join(waiter, NULL);
    x++; // NORACE
#endif
    return 0;
}
