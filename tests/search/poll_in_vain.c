// A thread polls two pipes; another may take the only byte of the second before it looks, and then it waits in vain.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2][2];
static int counted;

static void *poller(void *arg) {
    struct pollfd set[2] = {{.fd = ends[0][0], .events = POLLIN}, {.fd = ends[1][0], .events = POLLIN}};
    if (poll(set, 2, -1) == 1)
        counted++; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    char byte;
    if (pipe(ends[0]) || pipe(ends[1]))
        return 1;
    pthread_create(&thread, NULL, poller, NULL);
    if (write(ends[1][1], "x", 1) != 1 || read(ends[1][0], &byte, 1) != 1)
        return 1;
    counted++; // RACE!
    return 0;
}
