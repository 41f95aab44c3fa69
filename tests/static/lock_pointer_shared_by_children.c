// Lock pointers in structures: all children of a parent use the parent's lock.
#include <pthread.h>
#include <stdlib.h>

struct parent {
    pthread_mutex_t lock;
    int births;
};

struct child {
    struct parent *parent;
    int age;
};

static void *grow(void *arg) {
    struct child *c = arg;
    c->age++; // NORACE
#ifndef RACY
    pthread_mutex_lock(&c->parent->lock);
#endif
    c->parent->births++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&c->parent->lock);
#endif
    return NULL;
}

int main(void) {
    struct parent *p = malloc(sizeof *p);
    struct child kids[2];
    pthread_t threads[2];
    pthread_mutex_init(&p->lock, NULL);
    p->births = 0; // NORACE
    for (int i = 0; i < 2; i++) {
        kids[i].parent = p; // NORACE
        kids[i].age = i; // NORACE
        pthread_create(&threads[i], NULL, grow, &kids[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    int births = p->births; // NORACE
    free(p);
    return births;
}
