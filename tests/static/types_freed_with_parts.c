// A struct is freed with what is inside of it, and behind what it begins with.
#include "crowd.h"
struct size { long width; int height; };
struct item { int weight; double price; };
struct base { long kind; };
struct box { struct base base; void *owner; struct size size; };
struct other { float value; };
static void *frees(void *unused) {
    struct base *base = crowd[first];
    free(base); // RACE!
    return unused;
}
static void *uses(void *unused) {
    struct other *other = crowd[second];
    other->value = 2; // NORACE
#ifdef RACY
    struct box *box = crowd[first];
    struct size *size = &box->size;
    size->height = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    struct box *known = crowd[first];
    known->base.kind = known->size.height = 1; // NORACE
    run_both(frees, uses);
    return 0;
}
