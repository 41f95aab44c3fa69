// A pointer that is stored as a number, in a union, in one of very many blocks.
#include "crowd.h"
union word { void *pointer; unsigned long number; };
struct slot { int used; union word word; };
static int target;
static void *finds(void *unused) {
    struct slot *slot = crowd[first];
    int *found = slot->word.pointer;
    *found = 1; // RACE!
    return unused;
}
static void *knows(void *unused) {
#ifdef RACY
    target = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    struct slot *slot = crowd[first];
    slot->word.number = (unsigned long)&target;
    run_both(finds, knows);
    return 0;
}
