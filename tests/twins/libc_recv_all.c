// A reader that waits for all bytes gets them, however many calls they were sent with.
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];
static char inbox[2];

static void *writer(void *arg) {
    if (send(ends[1], "a", 1, 0) != 1)
        return NULL;
    return send(ends[1], "b", 1, 0) == 1 ? arg : NULL;
}

static void *peeker(void *arg) {
#ifdef RACY
    return inbox[1] ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t one, two;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, peeker, NULL);
    ssize_t n = recv(ends[0], inbox, 2, MSG_WAITALL); // RACE!
    if (n != 2 || inbox[0] != 'a' || inbox[1] != 'b')
        abort();
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
