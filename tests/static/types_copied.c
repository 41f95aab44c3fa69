// A pointer in a struct that is copied from one of very many blocks to another, by the library and byte by byte.
#include "crowd.h"
#include <string.h>
struct entry { int key; int *value; };
static int near, far;
static void *follows(void *unused) {
    struct entry *entry = crowd[second];
    *entry->value = 1; // RACE!
    entry = crowd[second + 1];
    *entry->value = 1; // RACE!
    return unused;
}
static void *knows(void *unused) {
#ifdef RACY
    near = 2; // RACE!
    far = 2; // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    struct entry *entry = crowd[first], *other = crowd[first + 1];
    entry->value = &near;
    memcpy(crowd[second], entry, sizeof *entry);
    other->value = &far;
    char *to = crowd[second + 1], *from = (char *)other;
    for (unsigned i = 0; i < sizeof *other; i++)
        to[i] = from[i];
    run_both(follows, knows);
    return 0;
}
