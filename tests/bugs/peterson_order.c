// Peterson's lock (1981) with its two assignments exchanged: the turn is given away before the wish is known.
#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 2 };

static atomic_int wants[2], turn;
static int balance;

static void enter(int self) {
    int other = 1 - self;
#ifdef RIGHT
    atomic_store(&wants[self], 1);
    atomic_store(&turn, other);
#else
    atomic_store(&turn, other);
    atomic_store(&wants[self], 1);
#endif
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
        ;
}

static void leave(int self) {
    atomic_store(&wants[self], 0);
}

static void *process(void *arg) {
    int self = (int)(long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        enter(self);
        balance += self ? 1 : -1; // RACE!
        leave(self);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, process, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return balance;
}
