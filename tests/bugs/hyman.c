// Hyman's mutual exclusion for two ("Comments on a problem in concurrent programming control", 1966), wrong as Knuth showed; repaired by Peterson.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int counter;

static void enter(int self) {
    int other = 1 - self;
    atomic_store(&wants[self], 1);
#ifdef RIGHT
    atomic_store(&turn, other);
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other)
        ;
#else
    while (atomic_load(&turn) != self) {
        while (atomic_load(&wants[other]))
            ;
        atomic_store(&turn, self);
    }
#endif
}

static void leave(int self) {
    atomic_store(&wants[self], 0);
}

static void *process(void *arg) {
    int self = (int)(long)arg;
    enter(self);
    counter++; // RACE!
    leave(self);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, process, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter == 2 ? 0 : 1;
}
