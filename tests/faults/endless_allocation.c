// A race, and a thread that takes all memory there is.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static int x;
static void *hungry(void *arg) {
    x = 1; // RACE!
    for (;;)
        memset(malloc(1 << 20), 1, 1 << 20);
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, hungry, 0);
    x = 2; // RACE!
    pthread_join(t, 0);
}
