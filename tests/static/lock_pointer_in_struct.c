// Lock pointers in structures: two views of one account share its lock through a pointer.
#include <pthread.h>

struct view {
    pthread_mutex_t *lock;
    int *balance;
};

static pthread_mutex_t account_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static int balance;
static struct view teller, machine;

static void *withdraw(void *arg) {
    struct view *v = arg;
    pthread_mutex_lock(v->lock);
    *v->balance -= 10; // RACE!
    pthread_mutex_unlock(v->lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    teller.lock = &account_lock; // NORACE
    teller.balance = &balance; // NORACE
#ifdef RACY
    machine.lock = &other_lock; // NORACE
#else
    machine.lock = &account_lock; // NORACE
#endif
    machine.balance = &balance; // NORACE
    pthread_create(&a, NULL, withdraw, &teller);
    pthread_create(&b, NULL, withdraw, &machine);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return balance + (teller.lock == &other_lock); // NORACE
}
