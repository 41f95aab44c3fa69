// Shared-variable discovery: a local with static storage is one object for all threads.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int next_ticket(void) {
    static int ticket;
    int mine;
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    mine = ++ticket; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    return mine;
}

static void *customer(void *arg) {
    int *ticket = arg;
    *ticket = next_ticket(); // NORACE
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int first, second;
    pthread_create(&a, NULL, customer, &first);
    pthread_create(&b, NULL, customer, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return first == second; // NORACE
}
