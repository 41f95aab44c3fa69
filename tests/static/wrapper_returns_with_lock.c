// Wrappers: a look-up returns its result with the lock held; the caller must release it.
#include <pthread.h>
#include <stddef.h>

struct entry {
    pthread_mutex_t lock;
    int key;
    int value;
};

static struct entry table[2] = {{PTHREAD_MUTEX_INITIALIZER, 1, 10}, {PTHREAD_MUTEX_INITIALIZER, 2, 20}};

static struct entry *find_locked(int key) {
    for (int i = 0; i < 2; i++)
        if (table[i].key == key) { // NORACE
            pthread_mutex_lock(&table[i].lock);
            return &table[i];
        }
    return NULL;
}

static void change(int key) {
    struct entry *e = find_locked(key);
    if (e == NULL)
        return;
#ifndef RACY
    e->value++; // NORACE
#endif
    pthread_mutex_unlock(&e->lock);
#ifdef RACY
    e->value++; // RACE!
#endif
}

static void *worker(void *arg) {
    change(2);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    change(2);
    change(3);
    pthread_join(thread, NULL);
    return table[1].value; // NORACE
}
