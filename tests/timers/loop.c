// Shows: timers: a loop that waits for a timer and for bytes, in either order. Racy: what the bytes stand for is written after them.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int ends[2], value;

static void *writer(void *arg) {
#ifndef RACY
    value = 1;
#endif
    assert(write(ends[1], "x", 1) == 1);
#ifdef RACY
    value = 1;
#endif
    return arg;
}

#ifdef EPOLL
static int wait_for(int list, int *timer, int *bytes) {
    struct epoll_event events[2];
    int count = epoll_wait(list, events, 2, -1);
    for (int i = 0; i < count; i++)
        *(events[i].data.fd == ends[0] ? bytes : timer) = 1;
    return count;
}
#else
static int wait_for(int list, int *timer, int *bytes) {
    struct pollfd set[2] = {{.fd = list, .events = POLLIN}, {.fd = ends[0], .events = POLLIN}};
    int count = poll(set, 2, -1);
    *timer = set[0].revents & POLLIN;
    *bytes = set[1].revents & POLLIN;
    return count;
}
#endif

int main(void) {
    pthread_t thread;
    assert(!pipe(ends));
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), list = timer;
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    timerfd_settime(timer, 0, &soon, 0);
#ifdef EPOLL
    list = epoll_create1(0);
    struct epoll_event one = {.events = EPOLLIN | MANNER, .data.fd = timer}, other = {.events = EPOLLIN, .data.fd = ends[0]};
    assert(!epoll_ctl(list, EPOLL_CTL_ADD, timer, &one) && !epoll_ctl(list, EPOLL_CTL_ADD, ends[0], &other));
#endif
    pthread_create(&thread, 0, writer, 0);
    int first = 0, seen = 0;
    while (seen != 3) {
        int expired = 0, arrived = 0;
        uint64_t count;
        char byte;
        assert(wait_for(list, &expired, &arrived) > 0);
        if (expired)
            assert(read(timer, &count, sizeof count) == sizeof count && count == 1);
        if (arrived) {
            assert(read(ends[0], &byte, 1) == 1);
            assert(value == 1);
        }
        if (!first)
            first = expired ? arrived ? 3 : 1 : 2;
        seen |= (expired ? 1 : 0) | (arrived ? 2 : 0);
    }
#ifdef WRONG
    assert(first != WRONG);
#endif
    pthread_join(thread, 0);
    return 0;
}
