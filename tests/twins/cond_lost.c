// One signal wakes one waiter: two signals are needed for two, or a broadcast.
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int tickets, data;

static void *taker(void *arg) {
    pthread_mutex_lock(&m);
    while (tickets == 0)
        pthread_cond_wait(&c, &m);
    tickets--; // NORACE
    pthread_mutex_unlock(&m);
#ifdef RACY
    data++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, taker, NULL);
    pthread_create(&two, NULL, taker, NULL);
    pthread_mutex_lock(&m);
    tickets = 2;
    pthread_cond_signal(&c);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return data;
}
