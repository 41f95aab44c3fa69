// A thread waits for what another adds to its interest list while it waits; a third may take the byte before it is told.
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

static int loop, ends[2];
static int counted;

static void *waiter(void *arg) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, -1) == 1)
        counted++; // RACE!
    return arg;
}

static void *taker(void *arg) {
    char byte;
    if (read(ends[0], &byte, 1) == 1)
        counted++; // RACE!
    return arg;
}

int main(void) {
    pthread_t one, two;
    struct epoll_event event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    if (loop < 0 || pipe(ends) || write(ends[1], "x", 1) != 1)
        return 1;
    pthread_create(&one, NULL, waiter, NULL);
    pthread_create(&two, NULL, taker, NULL);
    epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event);
    return 0;
}
