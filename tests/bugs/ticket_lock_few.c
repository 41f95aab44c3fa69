// Ticket lock with fewer tickets than threads that may wait: after the overflow two threads have the same ticket.
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3 };
#ifdef RIGHT
enum { MASK = 3 };
#else
enum { MASK = 1 };
#endif

static atomic_uint next, serving;
static int counter;

static void lock(void) {
    unsigned ticket = atomic_fetch_add(&next, 1) & MASK;
    while ((atomic_load(&serving) & MASK) != ticket) // DEADLOCK
        ;
}

static void unlock(void) {
    atomic_fetch_add(&serving, 1);
}

static void *worker(void *arg) {
    lock();
    counter++; // RACE!
    unlock();
    return arg;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    return counter == THREADS ? 0 : 1;
}
