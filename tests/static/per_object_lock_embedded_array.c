// Per-object locks: the lock protects an array inside the same object.
#include <pthread.h>

struct ring {
    pthread_mutex_t lock;
    int items[4];
    unsigned head, tail;
};

static struct ring ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(struct ring *r, int item) {
    pthread_mutex_lock(&r->lock);
    r->items[r->head++ % 4] = item; // RACE!
    pthread_mutex_unlock(&r->lock);
}

static int get(struct ring *r) {
    int item = -1;
    pthread_mutex_lock(&r->lock);
    if (r->tail != r->head) // NORACE
        item = r->items[r->tail++ % 4]; // NORACE
    pthread_mutex_unlock(&r->lock);
    return item;
}

static void *producer(void *arg) {
    put(arg, 1);
    put(arg, 2);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, producer, &ring);
    int item = get(&ring);
#ifdef RACY
    item += ring.items[0]; // RACE!
#endif
    pthread_join(thread, NULL);
    return item;
}
