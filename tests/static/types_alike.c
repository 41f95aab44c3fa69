// A struct that is made to begin like another one, and accessed as that.
#include "crowd.h"
struct object { void *next; int kind; };
struct window { void *next; int kind; int width; };
static void *sets(void *unused) {
    struct window *window = crowd[first];
    window->kind = 1; // RACE!
    return unused;
}
static void *asks(void *unused) {
#ifdef RACY
    struct object *object = crowd[first];
#else
    struct object *object = crowd[second];
#endif
    object->kind = 2; // RACE!
    return unused;
}
int main(void) {
    make_crowd();
    run_both(sets, asks);
    return 0;
}
