// Structs in a union are the same bytes.
#include "crowd.h"
struct circle { int kind, radius; };
struct label { int kind; short length, width; };
union shape { struct circle circle; struct label label; };
static void *grows(void *unused) {
    struct circle *circle = &((union shape *)crowd[first])->circle;
    circle->radius = 1; // RACE!
    return unused;
}
static void *writes(void *unused) {
#ifdef RACY
    union shape *shape = crowd[first];
#else
    union shape *shape = crowd[second];
#endif
    shape->label.length = 2; // RACE!
    return unused;
}
int main(void) {
    make_crowd();
    run_both(grows, writes);
    return 0;
}
