// MCS lock (Mellor-Crummey and Scott, 1991) whose unlock does not wait for a successor that is just arriving: nobody hands over to it.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct waiter {
    _Atomic(struct waiter *) next;
    atomic_int waits;
};

static _Atomic(struct waiter *) tail;
static int counter;

static void lock(struct waiter *self) {
    atomic_store(&self->next, NULL);
    atomic_store(&self->waits, 1);
    struct waiter *before = atomic_exchange(&tail, self);
    if (before == NULL)
        return;
    atomic_store(&before->next, self);
    while (atomic_load(&self->waits)) // DEADLOCK
        ;
}

static void unlock(struct waiter *self) {
    struct waiter *last = self;
    if (atomic_compare_exchange_strong(&tail, &last, NULL))
        return;
#ifdef RIGHT
    while (atomic_load(&self->next) == NULL)
        ;
#endif
    struct waiter *next = atomic_load(&self->next);
    if (next != NULL)
        atomic_store(&next->waits, 0);
}

static struct waiter waiters[3];

static void *worker(void *arg) {
    struct waiter *self = arg;
    lock(self);
    counter++;
    unlock(self);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &waiters[i]);
    worker(&waiters[2]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL); // DEADLOCK
    return counter == 3 ? 0 : 1;
}
