// Spin locks made of exchange and compare-exchange, with three threads after them.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int counter;

static void lock_exchange(void) {
    while (atomic_exchange(&taken, 1))
        ;
}

static void lock_compare(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak(&taken, &expected, 1))
        expected = 0;
}

static void unlock(void) {
    atomic_store(&taken, 0);
}

static void *worker(void *arg) {
    lock_exchange();
    counter = counter + 1; // RACE!
    unlock();
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
#ifdef RACY
    counter = 7; // RACE!
#else
    lock_compare();
    counter = 7;
    unlock();
#endif
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
