// $ raceproof check forgotten_lock.c
// Three functions touch the stock, two of them under its lock.
#include <pthread.h>

static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 10;

static void deliver(int n) {
    pthread_mutex_lock(&stock_lock);
    stock += n;
    pthread_mutex_unlock(&stock_lock);
}

static void sell(int n) {
    pthread_mutex_lock(&stock_lock);
    stock -= n;
    pthread_mutex_unlock(&stock_lock);
}

static int is_low(void) {
    return stock < 3;
}

static void *shop(void *arg) {
    (void)arg;
    sell(2);
    if (is_low())
        deliver(10);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, shop, NULL);
    pthread_create(&two, NULL, shop, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
