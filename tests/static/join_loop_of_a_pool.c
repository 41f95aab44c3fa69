// A pool keeps its threads' handles and their number in a heap block; the function that ends it joins them all.
#include <pthread.h>
#include <stdlib.h>

struct pool {
    pthread_mutex_t lock;
    pthread_t *threads;
    int count, done;
};

static void *worker(void *arg) {
    struct pool *pool = arg;
    pthread_mutex_lock(&pool->lock);
    pool->done++; // RACE!
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static struct pool *pool_create(int count) {
    struct pool *pool = calloc(1, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pool->count = count;
    pool->threads = calloc(count, sizeof *pool->threads);
    for (int i = 0; i < count; i++)
        pthread_create(&pool->threads[i], NULL, worker, pool);
    return pool;
}

static int pool_destroy(struct pool *pool) {
#ifdef RACY
    for (int i = 1; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
#else
    for (int i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
#endif
    int done = pool->done; // RACE!
    free(pool->threads);
    return done;
}

int main(void) {
    struct pool *pool = pool_create(2);
    return pool_destroy(pool) == 2 ? 0 : 1;
}
