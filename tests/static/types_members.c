// Members of two structs, each in one of very many blocks.
#include "crowd.h"
struct node { void *next; int count; };
struct item { int size; int weight; };
static void *counts(void *unused) {
    struct node *node = crowd[first];
    node->count = 1; // RACE!
    return unused;
}
static void *weighs(void *unused) {
    struct item *item = crowd[second];
    item->weight = 2; // NORACE
#ifdef RACY
    struct node *node = crowd[first];
    node->count = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    run_both(counts, weighs);
    return 0;
}
