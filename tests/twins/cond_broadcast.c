// A broadcast wakes all waiters; each has the mutex when it goes on.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int go, woken;

static void *waiter(void *arg) {
    pthread_mutex_lock(&m);
    while (!go) // NORACE
        pthread_cond_wait(&c, &m);
#ifdef RACY
    pthread_mutex_unlock(&m);
    woken++; // RACE!
#else
    woken++;
    pthread_mutex_unlock(&m);
#endif
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, waiter, NULL);
    pthread_create(&two, NULL, waiter, NULL);
    pthread_mutex_lock(&m);
    go = 1; // NORACE
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return woken == 9; // NORACE
}
