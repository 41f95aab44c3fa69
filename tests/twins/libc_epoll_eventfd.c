// A loop that another thread wakes through an event counter, to take jobs from a list.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int loop, bell;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *submit(void *arg) {
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    jobs++; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
    return eventfd_write(bell, 1) == 0 ? arg : NULL;
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
        pthread_mutex_lock(&m);
        done += jobs; // RACE!
        pthread_mutex_unlock(&m);
    }
    pthread_join(thread, NULL);
    return 0;
}
