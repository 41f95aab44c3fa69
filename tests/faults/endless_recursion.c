// A race, and a thread whose stack has no end.
#include <pthread.h>
static int x;
static int deeper(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    return deeper(depth + 1) + frame[0];
}
static void *falling(void *arg) {
    x = 1; // RACE!
    deeper(0);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, falling, 0);
    x = 2; // RACE!
    pthread_join(t, 0);
}
