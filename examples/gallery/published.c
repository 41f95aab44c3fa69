// $ raceproof check published.c
// The same with an atomic flag, which orders the two accesses to the table.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static int table;

static void *producer(void *arg) {
    (void)arg;
    table = 42;
    atomic_store(&ready, 1);
    return NULL;
}

int main(void) {
    pthread_t thread;
    int found = 0;
    pthread_create(&thread, NULL, producer, NULL);
    if (atomic_load(&ready))
        found = table;
    pthread_join(thread, NULL);
    return found == 7;
}
