// Heap objects: the buffer inside a locked object is protected with it.
#include <pthread.h>
#include <stdlib.h>

struct vector {
    pthread_mutex_t lock;
    int *items;
    int length, capacity;
};

static struct vector vector = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void append(struct vector *v, int item) {
    pthread_mutex_lock(&v->lock);
    if (v->length == v->capacity) { // NORACE
        v->capacity = v->capacity * 2 + 2; // NORACE
        int *bigger = malloc((size_t)v->capacity * sizeof *bigger); // NORACE
        for (int i = 0; i < v->length; i++) // NORACE
            bigger[i] = v->items[i]; // NORACE
        v->items = bigger; // NORACE
    }
    v->items[v->length++] = item; // RACE!
    pthread_mutex_unlock(&v->lock);
}

static void *worker(void *arg) {
    append(&vector, 7);
    return arg;
}

int main(void) {
    pthread_t thread;
    append(&vector, 1);
    pthread_create(&thread, NULL, worker, NULL);
#ifdef RACY
    int first = vector.items != NULL ? vector.length : 0; // RACE!
#else
    pthread_mutex_lock(&vector.lock);
    int first = vector.items[0]; // NORACE
    pthread_mutex_unlock(&vector.lock);
#endif
    pthread_join(thread, NULL);
    return first;
}
