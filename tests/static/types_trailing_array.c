// An array at the end of a struct that goes on behind it.
#include "crowd.h"
struct packet { int length; int data[1]; };
struct pair { void *one; int two, three; };
static void *sends(void *unused) {
    struct packet *packet = crowd[first];
    volatile int last = 2;
    packet->data[last] = 1; // RACE!
    return unused;
}
static void *pairs(void *unused) {
#ifdef RACY
    struct pair *pair = crowd[first];
#else
    struct pair *pair = crowd[second];
#endif
    pair->three = 2; // RACE!
    return unused;
}
int main(void) {
    make_crowd();
    run_both(sends, pairs);
    return 0;
}
