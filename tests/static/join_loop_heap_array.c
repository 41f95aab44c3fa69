// Join loops: an array of thread handles on the heap, its length in a variable.
#include <pthread.h>
#include <stdlib.h>

struct pool {
    pthread_t *threads;
    int size;
    int finished;
};

static void *work(void *arg) {
    struct pool *p = arg;
    __atomic_add_fetch(&p->finished, 1, __ATOMIC_SEQ_CST); // RACE!
    return NULL;
}

static void pool_start(struct pool *p, int size) {
    p->threads = malloc((size_t)size * sizeof *p->threads); // NORACE
    p->size = size; // NORACE
    p->finished = 0; // NORACE
    for (int i = 0; i < size; i++)
        pthread_create(&p->threads[i], NULL, work, p); // NORACE
}

static int pool_stop(struct pool *p) {
#ifdef RACY
    p->finished = 0; // RACE!
#endif
    for (int i = 0; i < p->size; i++) // NORACE
        pthread_join(p->threads[i], NULL); // NORACE
    free(p->threads); // NORACE
    return p->finished; // NORACE
}

int main(void) {
    struct pool pool;
    pool_start(&pool, 2);
    return pool_stop(&pool);
}
