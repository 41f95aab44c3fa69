// Escapes: a block is known to others through the kernel, which hands on the pointer given with an interest.
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct connection {
    int fd;
    int requests;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int loop, ends[2];

static void *serve(void *arg) {
    struct epoll_event events[2];
    int count = epoll_wait(loop, events, 2, -1);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        pthread_mutex_lock(&lock);
        connection->requests++; // RACE!
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    loop = epoll_create1(0);
    if (loop < 0 || pipe(ends) || write(ends[1], "x", 1) != 1)
        return 1;
    pthread_create(&thread, NULL, serve, NULL);
    struct connection *connection = malloc(sizeof *connection);
    connection->fd = ends[0]; // NORACE
    connection->requests = 0; // NORACE
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event))
        return 1;
#ifdef RACY
    connection->requests++; // RACE!
#else
    pthread_mutex_lock(&lock);
    connection->requests++; // NORACE
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(thread, NULL);
    return connection->requests != 2; // NORACE
}
