// What was written before `epoll_ctl` is known to who gets the event; what is written after it is not.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct job {
    int fd;
    int amount;
};

static int loop, ends[2];

static void *worker(void *arg) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, -1) != 1)
        abort();
    struct job *job = event.data.ptr;
    return job->amount == 7 ? arg : NULL; // RACE!
}

int main(void) {
    pthread_t thread;
    loop = epoll_create1(EPOLL_CLOEXEC);
    if (loop < 0 || pipe(ends) || write(ends[1], "x", 1) != 1)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    struct job *job = malloc(sizeof *job);
    job->fd = ends[0];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = job};
#ifndef RACY
    job->amount = 7;
#endif
    if (epoll_ctl(loop, EPOLL_CTL_ADD, job->fd, &event))
        return 1;
#ifdef RACY
    job->amount = 7; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
