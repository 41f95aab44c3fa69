// Locals that escape to joined threads: even the lock is a local of the function that joins.
#include <pthread.h>

struct shared {
    pthread_mutex_t lock;
    int count;
    int limit;
};

static void *worker(void *arg) {
    struct shared *s = arg;
    pthread_mutex_lock(&s->lock);
    if (s->count < s->limit) // RACE!
        s->count++; // RACE!
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int run(int limit) {
    struct shared shared = {.limit = limit};
    pthread_t a, b;
    pthread_mutex_init(&shared.lock, NULL);
    pthread_create(&a, NULL, worker, &shared);
    pthread_create(&b, NULL, worker, &shared);
#ifdef RACY
    shared.count++; // RACE!
#endif
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_mutex_destroy(&shared.lock);
    return shared.count; // NORACE
}

int main(void) {
    return run(1);
}
