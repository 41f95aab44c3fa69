// Another thread fills a pipe and empties it while a thread is about to wait at it: how often waits expire in a row does not
// depend on that.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *feed(void *arg) {
    char byte;
    write(ends[1], "a", 1);
    read(ends[0], &byte, 1);
    write(ends[1], "b", 1);
    return arg;
}
int main(void) {
    pthread_t thread;
    int expired = 0;
    pipe(ends);
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    pthread_create(&thread, 0, feed, 0);
    while (poll(&one, 1, 10) == 0)
        assert(++expired <= 5);
    pthread_join(thread, 0);
    return 0;
}
