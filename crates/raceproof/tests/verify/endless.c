// Threads without number are created in a loop without end: the search cannot finish, but led along the way that the net
// has found it shows the race.
#include <pthread.h>

static int counter;

static void *increment(void *arg) {
    counter = counter + 1; // RACE!
    return arg;
}

int main(void) {
    for (;;) {
        pthread_t thread;
        pthread_create(&thread, 0, increment, 0);
    }
}
