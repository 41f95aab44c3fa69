// Structs that are freed, each in one of very many blocks.
#include "crowd.h"
struct node { void *next; int count; };
struct item { int size; int weight; };
static void *frees(void *unused) {
    struct node *node = crowd[first];
    free(node); // RACE!
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
    struct node *known = crowd[first];
    known->count = 1; // NORACE
    run_both(frees, weighs);
    return 0;
}
