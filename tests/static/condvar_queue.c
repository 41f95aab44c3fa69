// Condition variables: waiting gives the lock up and takes it again; after the wait it is held.
#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int items[4];
    int count;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER};

static void put(struct queue *q, int item) {
    pthread_mutex_lock(&q->lock);
    q->items[q->count++] = item; // NORACE
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static int get(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->count == 0) // RACE!
        pthread_cond_wait(&q->filled, &q->lock);
    int item = q->items[--q->count]; // RACE!
    pthread_mutex_unlock(&q->lock);
    return item;
}

static void *consumer(void *arg) {
    int *out = arg;
    *out = get(&queue) + get(&queue); // NORACE
    return NULL;
}

int main(void) {
    pthread_t thread;
    int sum;
    pthread_create(&thread, NULL, consumer, &sum);
    put(&queue, 1);
    put(&queue, 2);
#ifdef RACY
    queue.count = queue.count; // RACE!
#endif
    pthread_join(thread, NULL);
    return sum; // NORACE
}
