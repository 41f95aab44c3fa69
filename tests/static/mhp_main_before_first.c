// May happen in parallel: what main and the functions it calls do before the first creation is before all threads.
#include <pthread.h>
#include <stdlib.h>

struct config {
    int depth;
    char *name;
};

static struct config config;
static int *table;

static void set_depth(int depth) {
    config.depth = depth; // RACE!
}

static void prepare(void) {
    set_depth(3);
    table = malloc(2 * sizeof *table); // NORACE
    if (table)
        for (int i = 0; i < 2; i++)
            table[i] = config.depth + i; // NORACE
}

static void *worker(void *arg) {
    return config.depth > 2 && table && table[1] ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t threads[2];
    prepare();
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
#ifdef RACY
    set_depth(4);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(table); // NORACE
    return config.depth;
}
