// Read-copy-update (McKenney and Slingwine, 1998) without the grace period: the writer frees what a reader still uses.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { READERS = 2 };

struct config {
    int limit;
    int level;
};

static _Atomic(struct config *) current;
static atomic_int reading[READERS];

static struct config *make(int level) {
    struct config *config = malloc(sizeof *config);
    config->level = level;
    config->limit = 2 * level;
    return config;
}

static void synchronize(void) {
    for (int i = 0; i < READERS; i++)
        while (atomic_load(&reading[i]))
            ;
}

static void *reader(void *arg) {
    int self = (int)(long)arg;
    atomic_store(&reading[self], 1);
    struct config *config = atomic_load(&current);
    int sum = config->limit + config->level; // RACE!
    atomic_store(&reading[self], 0);
    return (void *)(long)sum;
}

static void update(int level) {
    struct config *old = atomic_exchange(&current, make(level));
#ifdef RIGHT
    synchronize();
#else
    (void)synchronize;
#endif
    free(old); // RACE!
}

int main(void) {
    pthread_t threads[READERS];
    atomic_init(&current, make(1));
    for (long i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, reader, (void *)i);
    update(2);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&current));
    return 0;
}
