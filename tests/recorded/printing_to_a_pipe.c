// What is printed to a descriptor hands over what came before.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int data;
static int ends[2];

static void *receiver(void *unused) {
    char got;
    read(ends[0], &got, 1);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    pipe(ends);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    dprintf(ends[1], "x");
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
