// Bytes of a member, one by one and by the library.
#include "crowd.h"
#include <string.h>
struct header { int length; char name[8]; int flags; };
static void *fills(void *unused) {
    struct header *header = crowd[first];
    header->flags = 1; // RACE!
    header->name[1] = 'a'; // RACE!
    return unused;
}
static void *copies(void *unused) {
#ifdef RACY
    char *bytes = crowd[first];
#else
    char *bytes = crowd[second];
#endif
    bytes[12] = 1; // RACE!
    strcpy(bytes + 4, "ab"); // RACE!
    return unused;
}
int main(void) {
    make_crowd();
    run_both(fills, copies);
    return 0;
}
