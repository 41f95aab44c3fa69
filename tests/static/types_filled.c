// Structs that are filled and copied as a whole, each in one of very many blocks.
#include <string.h>
#include "crowd.h"
struct node { void *next; int count; };
struct item { int size; int weight; };
static void *fills(void *unused) {
    struct node *node = crowd[first], *other = crowd[last - 2];
    memset(node, 0, sizeof *node); // RACE!
    *other = *node; // RACE!
    return unused;
}
static void *weighs(void *unused) {
    struct item *item = crowd[second];
    item->weight = 2; // NORACE
#ifdef RACY
    struct node *node = crowd[first], *other = crowd[last - 2];
    node->count = 2; // RACE!
    other->next = 0; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    struct node *known = crowd[first];
    known->count = 1; // NORACE
    run_both(fills, weighs);
    return 0;
}
