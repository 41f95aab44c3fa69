// The kernel's rules about interest lists: errors, duplicates, what is reported once and what again, in which order.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int checks;

static void must(int holds) {
    checks++; // RACE!
    if (!holds)
        abort();
}

static int control(int loop, int operation, int fd, unsigned events) {
    struct epoll_event event = {.events = events, .data.u64 = 1000 + fd};
    return epoll_ctl(loop, operation, fd, &event) == 0 ? 0 : errno;
}

static int now(int loop, struct epoll_event *events, int most) {
    return epoll_wait(loop, events, most, 0);
}

static void errors(void) {
    struct epoll_event event;
    int ends[2], file = open("/dev/null", O_RDONLY), loop = epoll_create1(EPOLL_CLOEXEC);
    must(loop >= 0 && file >= 0 && pipe(ends) == 0);
    must(fcntl(loop, F_GETFD) == FD_CLOEXEC);
    must(epoll_create(0) < 0 && errno == EINVAL);
    must(epoll_create1(77) < 0 && errno == EINVAL);
    must(control(loop, EPOLL_CTL_ADD, ends[0], EPOLLIN) == 0);
    must(control(loop, EPOLL_CTL_ADD, ends[0], EPOLLIN) == EEXIST);
    must(control(loop, EPOLL_CTL_MOD, ends[1], EPOLLOUT) == ENOENT);
    must(control(loop, EPOLL_CTL_DEL, ends[1], 0) == ENOENT);
    must(control(loop, EPOLL_CTL_ADD, loop, EPOLLIN) == EINVAL);
    must(control(loop, EPOLL_CTL_ADD, 777, EPOLLIN) == EBADF);
    must(control(777, EPOLL_CTL_ADD, ends[1], EPOLLIN) == EBADF);
    must(control(ends[0], EPOLL_CTL_ADD, ends[1], EPOLLIN) == EINVAL);
    must(control(loop, 99, ends[0], EPOLLIN) == EINVAL);
    must(control(loop, EPOLL_CTL_ADD, file, EPOLLIN) == EPERM);
    must(control(loop, EPOLL_CTL_ADD, ends[1], EPOLLOUT | EPOLLEXCLUSIVE | EPOLLONESHOT) == EINVAL);
    must(control(loop, EPOLL_CTL_MOD, ends[0], EPOLLIN | EPOLLEXCLUSIVE) == EINVAL);
    must(control(loop, EPOLL_CTL_ADD, ends[1], EPOLLOUT | EPOLLEXCLUSIVE) == 0);
    must(control(loop, EPOLL_CTL_MOD, ends[1], EPOLLOUT) == EINVAL);
    must(epoll_ctl(loop, EPOLL_CTL_DEL, ends[1], NULL) == 0);
    must(epoll_wait(loop, &event, 0, 0) < 0 && errno == EINVAL);
    must(epoll_wait(loop, &event, -1, 0) < 0 && errno == EINVAL);
    must(epoll_wait(ends[0], &event, 1, 0) < 0 && errno == EINVAL);
    must(epoll_wait(777, &event, 1, 0) < 0 && errno == EBADF);
    must(now(loop, &event, 1) == 0);
    must(epoll_pwait(loop, &event, 1, 1, NULL) == 0);
    must(close(ends[0]) == 0 && close(ends[1]) == 0 && close(file) == 0 && close(loop) == 0);
}

static void duplicates(void) {
    struct epoll_event events[2];
    int ends[2], loop = epoll_create1(0), other = dup(loop);
    must(pipe(ends) == 0);
    int copy = dup(ends[0]), number = ends[0];
    must(control(loop, EPOLL_CTL_ADD, number, EPOLLIN) == 0);
    must(write(ends[1], "x", 1) == 1);
    must(now(other, events, 2) == 1 && events[0].data.u64 == 1000u + number);
    must(close(number) == 0);
    // The interest is in the open file: it stays until the last duplicate is closed.
    must(now(loop, events, 2) == 1 && events[0].data.u64 == 1000u + number);
    must(control(loop, EPOLL_CTL_DEL, number, 0) == EBADF);
    must(control(loop, EPOLL_CTL_ADD, copy, EPOLLIN) == 0);
    must(now(loop, events, 2) == 2);
    must(close(copy) == 0 && now(loop, events, 2) == 0);
    must(close(loop) == 0 && now(other, events, 2) == 0);
    must(close(ends[1]) == 0 && close(other) == 0);
}

static void manners(void) {
    struct epoll_event events[4];
    int a[2], b[2], loop = epoll_create1(0);
    char byte;
    must(pipe(a) == 0 && pipe(b) == 0);
    must(control(loop, EPOLL_CTL_ADD, a[0], EPOLLIN) == 0);
    must(control(loop, EPOLL_CTL_ADD, b[0], EPOLLIN) == 0);
    must(write(b[1], "xy", 2) == 2 && write(a[1], "x", 1) == 1);
    // In the order of arrival, and in turn if there is no room for all.
    must(now(loop, events, 4) == 2 && events[0].data.u64 == 1000u + b[0] && events[1].data.u64 == 1000u + a[0]);
    must(now(loop, events, 1) == 1 && events[0].data.u64 == 1000u + b[0]);
    must(now(loop, events, 1) == 1 && events[0].data.u64 == 1000u + a[0]);
    must(now(loop, events, 1) == 1 && events[0].data.u64 == 1000u + b[0]);
    must(read(a[0], &byte, 1) == 1 && now(loop, events, 4) == 1);
    // Edges: once for each arrival, whether or not the bytes before were read; and again when asked for anew.
    must(control(loop, EPOLL_CTL_MOD, b[0], EPOLLIN | EPOLLET) == 0);
    must(now(loop, events, 4) == 1 && now(loop, events, 4) == 0);
    must(write(b[1], "z", 1) == 1 && now(loop, events, 4) == 1 && now(loop, events, 4) == 0);
    must(control(loop, EPOLL_CTL_MOD, b[0], EPOLLIN | EPOLLET) == 0 && now(loop, events, 4) == 1);
    // Once.
    must(control(loop, EPOLL_CTL_MOD, b[0], EPOLLIN | EPOLLONESHOT) == 0);
    must(now(loop, events, 4) == 1 && now(loop, events, 4) == 0);
    must(write(b[1], "z", 1) == 1 && now(loop, events, 4) == 0);
    must(control(loop, EPOLL_CTL_MOD, b[0], EPOLLIN | EPOLLONESHOT) == 0 && now(loop, events, 4) == 1);
    // `poll` can wait for the loop itself.
    struct pollfd set = {.fd = loop, .events = POLLIN};
    must(poll(&set, 1, 0) == 0);
    must(write(a[1], "x", 1) == 1 && poll(&set, 1, 0) == 1 && set.revents == POLLIN);
    must(close(a[1]) == 0 && now(loop, events, 4) == 1 && events[0].events == (EPOLLIN | EPOLLHUP));
    must(close(a[0]) == 0 && close(b[0]) == 0 && close(b[1]) == 0 && now(loop, events, 4) == 0 && close(loop) == 0);
}

static void ends_of_connections(void) {
    struct epoll_event event;
    int ends[2], loop = epoll_create1(0), bell = eventfd(3, EFD_SEMAPHORE);
    char byte;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    must(control(loop, EPOLL_CTL_ADD, ends[0], EPOLLIN | EPOLLOUT | EPOLLRDHUP) == 0);
    must(now(loop, &event, 1) == 1 && event.events == EPOLLOUT);
    must(shutdown(ends[1], SHUT_WR) == 0);
    must(now(loop, &event, 1) == 1 && event.events == (EPOLLIN | EPOLLOUT | EPOLLRDHUP));
    must(read(ends[0], &byte, 1) == 0 && close(ends[1]) == 0);
    must(now(loop, &event, 1) == 1 && event.events == (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP));
    must(close(ends[0]) == 0 && control(loop, EPOLL_CTL_ADD, bell, EPOLLIN) == 0);
    eventfd_t value;
    for (int i = 0; i < 3; i++)
        must(now(loop, &event, 1) == 1 && eventfd_read(bell, &value) == 0 && value == 1);
    must(now(loop, &event, 1) == 0 && close(bell) == 0 && close(loop) == 0);
}

static void *run(void *arg) {
    errors();
    duplicates();
    manners();
    ends_of_connections();
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
#ifdef RACY
    checks++; // RACE!
#endif
    pthread_join(thread, NULL);
    return checks == 0;
}
