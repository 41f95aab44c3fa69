// A stream and the members of a struct, each behind one of very many pointers.
#include <stdio.h>
#define LAST_OF_CROWD crowd[last] = fopen("/dev/null", "w");
#include "crowd.h"
struct item { int size; int weight; };
static void *writes(void *unused) {
    FILE *stream = crowd[last];
    putc_unlocked('x', stream); // RACE!
    return unused;
}
static void *weighs(void *unused) {
    struct item *item = crowd[second];
    item->weight = 2; // NORACE
#ifdef RACY
    FILE *stream = crowd[last];
    putc_unlocked('y', stream); // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    run_both(writes, weighs);
    return 0;
}
