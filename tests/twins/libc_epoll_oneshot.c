// Two workers share a connection: with EPOLLONESHOT one of them has it at a time, and hands it on by EPOLL_CTL_MOD.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef RACY
#define MANNER EPOLLIN
#else
#define MANNER (EPOLLIN | EPOLLONESHOT)
#endif

struct connection {
    int fd;
    int requests;
};

static int loop, ends[2];

static void *worker(void *arg) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, -1) != 1)
        abort();
    struct connection *connection = event.data.ptr;
    connection->requests++; // RACE!
    event.events = MANNER;
    epoll_ctl(loop, EPOLL_CTL_MOD, connection->fd, &event);
    return arg;
}

int main(void) {
    pthread_t one, two;
    struct connection *connection = calloc(1, sizeof *connection);
    loop = epoll_create1(0);
    if (loop < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    connection->fd = ends[0];
    struct epoll_event event = {.events = MANNER, .data.ptr = connection};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event) || send(ends[1], "ab", 2, 0) != 2)
        return 1;
    pthread_create(&one, NULL, worker, NULL);
    pthread_create(&two, NULL, worker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return connection->requests != 2;
}
