// Workers share a queue that is allocated once, with its lock inside; a flag stops them, and one loop waits for all.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t lock;
    int items;
};

static atomic_int stop;
static int late;

static void *work(void *arg) {
    struct queue *queue = arg;
    while (!atomic_load(&stop)) {
        pthread_mutex_lock(&queue->lock);
        queue->items--; // NORACE
        pthread_mutex_unlock(&queue->lock);
    }
    return late ? arg : 0; // NORACE
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 2;
    struct queue *queue = malloc(sizeof *queue);
    pthread_mutex_init(&queue->lock, 0);
    queue->items = 100;
    pthread_t *workers = malloc(sizeof *workers * count);
    for (int i = 0; i < count; i++)
        pthread_create(&workers[i], 0, work, queue);
    late = 1; // NORACE
    atomic_store(&stop, 1);
    for (int i = 0; i < count; i++)
        pthread_join(workers[i], 0);
    int left = queue->items; // NORACE
    late = 2; // NORACE
    return left > 100;
}
