// Memory that is used as two types at once, as its compiler is told.
// raceproof static --cflags=-fno-strict-aliasing
#include "crowd.h"
struct node { long next; int count; };
struct item { int size; int weight; };
static void *counts(void *unused) {
    struct node *node = crowd[first];
    node->next = 1; // RACE!
    return unused;
}
static void *weighs(void *unused) {
    (void)second;
#ifdef RACY
    struct item *item = crowd[first];
    item->weight = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    run_both(counts, weighs);
    return 0;
}
