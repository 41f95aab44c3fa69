// Handed over through a pipe.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static int data, ends[2];

static void *sender(void *arg) {
    data = 42;
    if (write(ends[1], "x", 1) != 1)
        abort();
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends))
        return 2;
    pthread_create(&thread, NULL, sender, NULL);
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
