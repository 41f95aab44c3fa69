// Thread tree: a thread that joins its child before it creates the next one orders the two.
#include <pthread.h>

static int ledger;

static void *entry(void *arg) {
    ledger += *(int *)arg; // RACE!
    return NULL;
}

static void *manager(void *arg) {
    int credit = 5, debit = -3;
    pthread_t a, b;
    pthread_create(&a, NULL, entry, &credit);
#ifdef RACY
    pthread_create(&b, NULL, entry, &debit);
    pthread_join(a, NULL);
#else
    pthread_join(a, NULL);
    pthread_create(&b, NULL, entry, &debit);
#endif
    pthread_join(b, NULL);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, manager, NULL);
    pthread_join(thread, NULL);
    return ledger; // NORACE
}
