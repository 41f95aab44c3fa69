// Handed over through a pair of sockets.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int data, ends[2];

static void *sender(void *arg) {
    data = 42;
    if (send(ends[1], "x", 1, 0) != 1)
        abort();
    return arg;
}

int main(void) {
    pthread_t thread;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
    pthread_create(&thread, NULL, sender, NULL);
    char byte;
    if (recv(ends[0], &byte, 1, 0) != 1)
        abort();
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
