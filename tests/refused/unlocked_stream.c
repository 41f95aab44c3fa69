// A stream is used without its lock where the program holds it.
// Shows: streams: `putc_unlocked` in a program that calls `flockfile`
#include <pthread.h>
#include <stdio.h>

static void *print(void *arg) {
    flockfile(stdout);
    putc_unlocked('x', stdout); // REFUSED `putc_unlocked`
    funlockfile(stdout);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, print, NULL);
    print(NULL);
    pthread_join(thread, NULL);
    return 0;
}
