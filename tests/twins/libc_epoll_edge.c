// Edge-triggered: of two threads that wait, one is told of a byte. The other is told of the next one, which a lock keeps
// until the first is done; without the lock nothing does.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static int loop, ends[2];
static int told;
#ifndef RACY
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *waiter(void *arg) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, -1) != 1 || event.events != EPOLLIN)
        abort();
#ifndef RACY
    pthread_mutex_lock(&m);
#endif
    int first = told++ == 0; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&m);
#endif
    if (first && write(ends[1], "b", 1) != 1)
        abort();
    return arg;
}

int main(void) {
    pthread_t one, two;
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    loop = epoll_create(1);
    if (loop < 0 || pipe(ends) || epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event))
        return 1;
    pthread_create(&one, NULL, waiter, NULL);
    pthread_create(&two, NULL, waiter, NULL);
#ifdef RACY
    // Two bytes at once may tell both at the same time.
    if (write(ends[1], "a", 1) != 1)
        return 1;
#endif
    if (write(ends[1], "a", 1) != 1)
        return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
