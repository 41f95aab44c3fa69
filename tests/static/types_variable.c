// Variables among very many blocks, and characters that are used as storage.
#include <string.h>
#define LAST_OF_CROWD crowd[last] = &known;
struct item { int size; int weight; };
struct pair { void *left; void *right; };
struct node { double value; long count; };
static struct pair known;
static _Alignas(16) char storage[64];
#include "crowd.h"
static void *points(void *unused) {
    known.left = known.right; // RACE!
    memset(storage, 0, 16); // RACE!
    return unused;
}
static void *weighs(void *unused) {
    struct item *item = crowd[second];
    item->weight = 2; // NORACE
#ifdef RACY
    struct pair *pair = crowd[last];
    pair->left = 0; // RACE!
    struct node *node = crowd[last - 1];
    node->count = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    crowd[last - 1] = storage;
    run_both(points, weighs);
    return 0;
}
