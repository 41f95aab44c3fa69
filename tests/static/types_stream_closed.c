// A stream that is closed, or bytes that are copied, behind one of very many pointers.
#include <stdio.h>
#include <string.h>
#define LAST_OF_CROWD crowd[last] = fopen("/dev/null", "w");
#include "crowd.h"
struct item { int size; int weight; };
static void *writes(void *unused) {
    FILE *stream = crowd[last];
    putc_unlocked('x', stream); // RACE!
    return unused;
}
static void *copies(void *unused) {
    struct item item = {1, 2};
    memcpy(crowd[second], &item, made == 40 ? sizeof item : 1); // NORACE
#ifdef RACY
    fclose(crowd[last]); // RACE!
#endif
    return unused;
}
int main(void) {
    make_crowd();
    run_both(writes, copies);
    return 0;
}
