// Transfers between accounts lock them in the order of the arguments: two opposite transfers block each other.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account accounts[3];

static void transfer(struct account *from, struct account *to, long amount) {
    struct account *first = from, *second = to;
#ifdef RIGHT
    if (first > second) {
        first = to;
        second = from;
    }
#endif
    pthread_mutex_lock(&first->lock); // DEADLOCK
    pthread_mutex_lock(&second->lock); // DEADLOCK
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *clerk(void *arg) {
    int self = (int)(long)arg;
    transfer(&accounts[self], &accounts[2], 10);
    transfer(&accounts[2], &accounts[1 - self], 5);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].balance = 100;
    }
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, clerk, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    for (int i = 0; i < 3; i++)
        sum += accounts[i].balance;
    return sum == 300 ? 0 : 1;
}
