// An event loop over two pipes: each handler gets its own state back from `epoll_wait`, filled in before `epoll_ctl`.
// Shows: waiting: `epoll_wait`
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct source {
    int fd;
    int seen;
};

static int loop, ends[2][2];
static int handled;

static void *run(void *arg) {
    for (int i = 0; i < 2; i++) {
        struct epoll_event event;
        char byte;
        if (epoll_wait(loop, &event, 1, -1) != 1)
            abort();
        struct source *source = event.data.ptr;
        if (read(source->fd, &byte, 1) != 1) // NORACE
            abort();
        source->seen++; // NORACE
        handled++; // RACE!
    }
    return arg;
}

static void *writer(void *to) {
    return write(*(int *)to, "x", 1) == 1 ? to : NULL;
}

int main(void) {
    pthread_t threads[3];
    loop = epoll_create1(0);
    if (loop < 0 || pipe(ends[0]) || pipe(ends[1]))
        return 1;
    pthread_create(&threads[0], NULL, run, NULL);
    for (int i = 0; i < 2; i++) {
        struct source *source = malloc(sizeof *source);
        source->fd = ends[i][0]; // NORACE
        source->seen = 0; // NORACE
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
        if (epoll_ctl(loop, EPOLL_CTL_ADD, ends[i][0], &event))
            return 1;
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[1 + i], NULL, writer, &ends[i][1]);
#ifdef RACY
    int early = handled; // RACE!
#else
    int early = 0;
#endif
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return handled < 2 || early < 0;
}
