// Forty blocks behind one array: more than points-to sets tell apart, so that types have to.
#include <pthread.h>
#include <stdlib.h>

static void *crowd[41];
static int made;
static volatile int first = 3, second = 17, last = 40;

// What a program adds to them, at the end.
#ifndef LAST_OF_CROWD
#define LAST_OF_CROWD
#endif

#define MAKE crowd[made++] = calloc(1, 64);
#define TEN MAKE MAKE MAKE MAKE MAKE MAKE MAKE MAKE MAKE MAKE

static void make_crowd(void) { LAST_OF_CROWD TEN TEN TEN TEN }

static void run_both(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}
