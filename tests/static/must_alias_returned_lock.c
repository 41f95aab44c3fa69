// Must-alias: a function returns its argument or a fixed lock.
#include <pthread.h>

static pthread_mutex_t general = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t special = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static pthread_mutex_t *choose(pthread_mutex_t *wanted) {
#ifdef RACY
    (void)wanted;
    return &special;
#else
    return wanted;
#endif
}

static void *deposit(void *arg) {
    pthread_mutex_t *lock = choose(&general);
    pthread_mutex_lock(lock);
    balance += 5; // RACE!
    pthread_mutex_unlock(lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, deposit, NULL);
    pthread_mutex_lock(&general);
    balance -= 5; // RACE!
    pthread_mutex_unlock(&general);
    pthread_join(thread, NULL);
    return balance + (&special == &general); // NORACE
}
