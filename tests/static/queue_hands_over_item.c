// Hand-over through a queue: an item belongs to its producer until it is in the queue, and then to who takes it out.
#include <pthread.h>
#include <stdlib.h>

struct item {
    struct item *next;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *queue;

static void *producer(void *arg) {
    struct item *item = malloc(sizeof *item);
    if (!item)
        return arg;
#ifndef RACY
    item->value = 1; // NORACE
#endif
    pthread_mutex_lock(&lock);
    item->next = queue; // NORACE
    queue = item;       // NORACE
    pthread_mutex_unlock(&lock);
#ifdef RACY
    item->value = 1; // RACE!
#endif
    return arg;
}

static void *consumer(void *arg) {
    int sum = 0;
    pthread_mutex_lock(&lock);
    struct item *item = queue; // NORACE
    if (item)
        queue = item->next; // NORACE
    pthread_mutex_unlock(&lock);
    if (item)
        sum = item->value; // RACE!
    return sum ? arg : NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, producer, NULL);
    pthread_create(&b, NULL, consumer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
