// Ticket lock with both counters in one word: on overflow, the unlock's increment carries into the next ticket, which nobody then has.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

/* The low byte is served now, the high byte is the next ticket. */
static _Atomic uint16_t word = 0xfefe;
static int counter;

static void lock(void) {
    uint8_t ticket = atomic_fetch_add(&word, 0x100) >> 8;
    while ((uint8_t)atomic_load(&word) != ticket) // DEADLOCK
        ;
}

static void unlock(void) {
#ifdef RIGHT
    uint16_t now = atomic_load(&word);
    while (!atomic_compare_exchange_weak(&word, &now, (now & 0xff00) | (uint8_t)(now + 1)))
        ;
#else
    atomic_fetch_add(&word, 1);
#endif
}

static void *worker(void *arg) {
    lock();
    counter++;
    unlock();
    return arg;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    worker(NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    return counter == 3 ? 0 : 1;
}
