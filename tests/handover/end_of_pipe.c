// The end of what is written says that all is done.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static int data, ends[2];

static void *sender(void *arg) {
    data = 42;
    close(ends[1]);
    return arg;
}

int main(void) {
    pthread_t thread;
    if (pipe(ends))
        return 2;
    pthread_create(&thread, NULL, sender, NULL);
    char byte;
    if (read(ends[0], &byte, 1) != 0)
        abort();
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
