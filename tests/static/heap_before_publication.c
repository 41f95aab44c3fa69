// Heap objects: nobody else can see a node before it is in the list.
#include <pthread.h>
#include <stdlib.h>

struct node {
    int key;
    int uses;
    struct node *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *list;

static void insert(int key) {
    struct node *n = malloc(sizeof *n);
    n->key = key; // NORACE
#ifndef RACY
    n->uses = 0; // NORACE
#endif
    pthread_mutex_lock(&lock);
    n->next = list; // NORACE
    list = n; // NORACE
    pthread_mutex_unlock(&lock);
#ifdef RACY
    n->uses = 0; // RACE!
#endif
}

static void *user(void *arg) {
    pthread_mutex_lock(&lock);
    for (struct node *n = list; n != NULL; n = n->next) // NORACE
        n->uses += n->key; // RACE!
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t thread;
    insert(1);
    pthread_create(&thread, NULL, user, NULL);
    insert(2);
    pthread_join(thread, NULL);
    return list->uses; // NORACE
}
