// A thread waits for two pipes that others write to, and is told of one at a time: in the order in which the bytes came.
// It counts if that is another order than the one in which the pipes were added.
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

static int loop, ends[2][2];
static int counted;

static void *writer(void *number) {
    if (write(ends[*(int *)number][1], "x", 1) == 1 && *(int *)number == 0)
        counted++; // RACE!
    return NULL;
}

int main(void) {
    static int numbers[2] = {0, 1};
    pthread_t one, two;
    struct epoll_event event = {.events = EPOLLIN};
    loop = epoll_create1(0);
    for (int i = 0; i < 2; i++) {
        event.data.u32 = i;
        if (pipe(ends[i]) || epoll_ctl(loop, EPOLL_CTL_ADD, ends[i][0], &event))
            return 1;
    }
    pthread_create(&one, NULL, writer, &numbers[0]);
    pthread_create(&two, NULL, writer, &numbers[1]);
    struct epoll_event first, second;
    if (epoll_wait(loop, &first, 1, -1) != 1 || epoll_wait(loop, &second, 1, -1) != 1)
        return 1;
    if (first.data.u32 == 1 && second.data.u32 == 0)
        counted++; // RACE!
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
