// A number is no pointer: what is counted in one of very many blocks leads nowhere.
#include "crowd.h"
struct list { int *first; struct list *next; };
static int behind;
static void *counts(void *unused) {
    long *counter = crowd[second];
    *counter += 1; // NORACE
#ifdef RACY
    struct list *list = crowd[first];
    *list->first = 1; // RACE!
#endif
    return unused;
}
static void *walks(void *unused) {
    struct list *list = crowd[first];
    *list->first = 2; // RACE!
    return unused;
}
int main(void) {
    make_crowd();
    struct list *list = crowd[first];
    list->first = &behind;
    run_both(counts, walks);
    return 0;
}
