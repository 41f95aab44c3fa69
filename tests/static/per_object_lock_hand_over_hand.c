// Per-object locks: hand over hand along a list; the next node is locked before this one is left.
#include <pthread.h>
#include <stddef.h>

struct node {
    pthread_mutex_t lock;
    int value;
    struct node *next;
};

static struct node last = {PTHREAD_MUTEX_INITIALIZER, 2, NULL};
static struct node first = {PTHREAD_MUTEX_INITIALIZER, 1, &last};

static void age_all(struct node *n) {
    pthread_mutex_lock(&n->lock);
    while (n != NULL) {
        struct node *next = n->next; // NORACE
        if (next != NULL)
            pthread_mutex_lock(&next->lock);
#ifndef RACY
        n->value++; // NORACE
#endif
        pthread_mutex_unlock(&n->lock);
#ifdef RACY
        n->value++; // RACE!
#endif
        n = next;
    }
}

static void *worker(void *arg) {
    age_all(arg);
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, &first);
    age_all(&first);
    pthread_join(thread, NULL);
    return first.value + last.value; // NORACE
}
