// A race, and a thread that computes for ever without touching memory of others.
#include <pthread.h>
static int x;
static void *busy(void *arg) {
    x = 1; // RACE!
    for (volatile long i = 0;; i++)
        ;
    return arg;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, busy, 0);
    x = 2; // RACE!
    pthread_join(t, 0);
}
