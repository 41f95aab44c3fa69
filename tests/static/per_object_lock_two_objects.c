// Per-object locks: a transfer locks both accounts, in the order of their addresses.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int cents;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void transfer(struct account *from, struct account *to, int cents) {
    struct account *low = from < to ? from : to, *high = from < to ? to : from;
    pthread_mutex_lock(&low->lock);
#ifndef RACY
    pthread_mutex_lock(&high->lock);
#endif
    from->cents -= cents; // NORACE
    to->cents += cents; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&high->lock);
#endif
    pthread_mutex_unlock(&low->lock);
    (void)high;
}

static void *worker(void *arg) {
    transfer(&accounts[0], &accounts[1], 10);
    return arg;
}

static void *fee(void *arg) {
    pthread_mutex_lock(&accounts[1].lock);
    accounts[1].cents--; // RACE!
    pthread_mutex_unlock(&accounts[1].lock);
    pthread_mutex_lock(&accounts[0].lock);
    accounts[0].cents--; // NORACE
    pthread_mutex_unlock(&accounts[0].lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, fee, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return accounts[0].cents + accounts[1].cents; // NORACE
}
