// Thread tree: a child's own child outlives it unless the child joins it.
#include <pthread.h>

static int depth;
static pthread_t inner;

static void *grandchild(void *arg) {
    depth++; // RACE!
    return arg;
}

static void *child(void *arg) {
    pthread_create(&inner, NULL, grandchild, NULL); // NORACE
#ifndef RACY
    pthread_join(inner, NULL); // NORACE
#endif
    return arg;
}

int main(void) {
    pthread_t outer;
    pthread_create(&outer, NULL, child, NULL);
    pthread_join(outer, NULL);
    int seen = depth; // RACE!
#ifdef RACY
    pthread_join(inner, NULL); // NORACE
#endif
    return seen;
}
