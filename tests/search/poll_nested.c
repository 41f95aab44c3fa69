// As `epoll_in_vain.c`, for who polls the descriptor of the interest list.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

static int loop, ends[2];
static int counted;
static sem_t waits;

static void *waiter(void *arg) {
    struct pollfd set = {.fd = loop, .events = POLLIN};
    sem_post(&waits);
    if (poll(&set, 1, -1) == 1)
        counted++; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
    char byte;
    struct epoll_event event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    sem_init(&waits, 0, 0);
    if (loop < 0 || pipe(ends) || write(ends[1], "x", 1) != 1)
        return 1;
    pthread_create(&thread, NULL, waiter, NULL);
    sem_wait(&waits);
    if (epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event) || read(ends[0], &byte, 1) != 1)
        return 1;
    counted++; // RACE!
    return 0;
}
