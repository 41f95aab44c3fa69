// Arrays of locks: a hash table with a lock per bucket inside the bucket.
#include <pthread.h>

struct bucket {
    pthread_mutex_t lock;
    int count;
    int last_key;
};

static struct bucket buckets[2] = {{PTHREAD_MUTEX_INITIALIZER, 0, 0}, {PTHREAD_MUTEX_INITIALIZER, 0, 0}};

static unsigned hash(int key) {
    return (unsigned)key % 2;
}

static void insert(int key) {
    struct bucket *b = &buckets[hash(key)];
    pthread_mutex_lock(&b->lock);
    b->count++; // RACE!
    b->last_key = key; // NORACE
    pthread_mutex_unlock(&b->lock);
}

static int count(int key) {
    struct bucket *b = &buckets[hash(key)];
#ifdef RACY
    return b->count; // RACE!
#else
    pthread_mutex_lock(&b->lock);
    int n = b->count; // NORACE
    pthread_mutex_unlock(&b->lock);
    return n;
#endif
}

static void *worker(void *arg) {
    insert(3);
    insert(4);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    insert(3);
    int n = count(4);
    pthread_join(thread, NULL);
    return n;
}
