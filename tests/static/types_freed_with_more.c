// A block that is freed as a struct has another one behind that.
#include "crowd.h"
struct head { long kind; void *next; };
struct item { int size; int weight; };
struct other { float value; };
static void *frees(void *unused) {
    struct head *head = crowd[first];
    free(head); // RACE!
    return unused;
}
static void *weighs(void *unused) {
    struct other *other = crowd[second];
    other->value = 2; // NORACE
#ifdef RACY
    struct head *head = crowd[first];
    struct item *item = (struct item *)(head + 1);
    item->weight = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    run_both(frees, weighs);
    return 0;
}
