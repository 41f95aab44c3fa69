// A loop that another thread wakes through an event counter: what was done before the bell rang is seen (A15), what is done
// after it is not.
// Shows: waiting: event counters
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int loop, bell;
static int jobs;

static void *submit(void *arg) {
    jobs++; // NORACE
    if (eventfd_write(bell, 1))
        return NULL;
#ifdef RACY
    jobs++; // RACE!
#endif
    return arg;
}

int main(void) {
    pthread_t thread;
    int done = 0;
    struct epoll_event events[4], event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    bell = eventfd(0, EFD_NONBLOCK);
    event.data.fd = bell;
    if (loop < 0 || bell < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, bell, &event))
        return 1;
    pthread_create(&thread, NULL, submit, NULL);
    while (done == 0) {
        uint64_t rung;
        if (epoll_wait(loop, events, 4, -1) != 1 || events[0].data.fd != bell || read(bell, &rung, 8) != 8)
            abort();
        done += jobs; // RACE!
    }
    pthread_join(thread, NULL);
    return 0;
}
