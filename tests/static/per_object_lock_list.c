// Per-object locks: each node of a list has a lock for its value; the list itself does not change.
#include <pthread.h>
#include <stdlib.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node *list;

static void push(int value) {
    struct node *n = malloc(sizeof *n);
    pthread_mutex_init(&n->lock, NULL);
    n->value = value; // NORACE
    n->next = list; // NORACE
    list = n; // NORACE
}

static void raise_all(void) {
    for (struct node *n = list; n != NULL; n = n->next) { // NORACE
        pthread_mutex_lock(&n->lock);
        n->value++; // RACE!
        pthread_mutex_unlock(&n->lock);
    }
}

static void *worker(void *arg) {
    raise_all();
    return arg;
}

int main(void) {
    pthread_t thread;
    push(1);
    push(2);
    pthread_create(&thread, NULL, worker, NULL);
    raise_all();
#ifdef RACY
    list->value = 0; // RACE!
#endif
    pthread_join(thread, NULL);
    return list->value; // NORACE
}
