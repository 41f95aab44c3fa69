// A wait with a limit may give up at any time; one without never does.
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#ifdef RACY
#define LIMIT 50
#else
#define LIMIT -1
#endif

static int loop, ends[2];
static int missed;

static void *waiter(void *arg) {
    struct epoll_event event;
    if (epoll_wait(loop, &event, 1, LIMIT) == 0)
        missed++; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    struct epoll_event event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    if (loop < 0 || pipe(ends) || epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event))
        return 1;
    pthread_create(&thread, NULL, waiter, NULL);
    if (write(ends[1], "x", 1) != 1)
        return 1;
    int early = missed; // RACE!
    pthread_join(thread, NULL);
    return early;
}
