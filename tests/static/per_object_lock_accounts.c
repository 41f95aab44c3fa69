// Per-object locks: p->lock protects p->balance, whichever account p is.
#include <pthread.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};

static void deposit(struct account *a, int amount) {
    pthread_mutex_lock(&a->lock);
    a->balance += amount; // RACE!
    pthread_mutex_unlock(&a->lock);
}

static int peek(struct account *a) {
#ifdef RACY
    return a->balance; // RACE!
#else
    pthread_mutex_lock(&a->lock);
    int balance = a->balance; // NORACE
    pthread_mutex_unlock(&a->lock);
    return balance;
#endif
}

static void *payday(void *arg) {
    (void)arg;
    for (int i = 0; i < 2; i++)
        deposit(&accounts[i], 10);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, payday, NULL);
    deposit(&accounts[0], -5);
    int seen = peek(&accounts[1]);
    pthread_join(thread, NULL);
    return seen;
}
