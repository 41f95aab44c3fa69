// A try-lock made of compare-exchange.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int lock;
static int counter;

static void *worker(void *arg) {
    int expected = 0;
    if (atomic_compare_exchange_strong(&lock, &expected, 1)) { // NORACE
        counter++; // RACE!
#ifdef RACY
        atomic_store_explicit(&lock, 0, memory_order_relaxed); // NORACE
#else
        atomic_store_explicit(&lock, 0, memory_order_release);
#endif
    }
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter == 0;
}
