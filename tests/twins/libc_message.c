// A message in two parts is received into two places.
// Shows: waiting: `recvmsg`, `sendmsg`
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

static int ends[2];
static char head[2], body[4];

static void *sender(void *arg) {
    char kind = 'k', text[3] = "abc";
    struct iovec parts[2] = {{&kind, 1}, {text, 3}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    return sendmsg(ends[1], &message, 0) == 4 ? arg : NULL;
}

static void *peeker(void *arg) {
#ifdef RACY
    return body[2] ? arg : NULL; // RACE!
#else
    return arg;
#endif
}

int main(void) {
    pthread_t one, two;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&one, NULL, sender, NULL);
    pthread_create(&two, NULL, peeker, NULL);
    char space[64];
    struct iovec parts[2] = {{head, 1}, {body, 3}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = space, .msg_controllen = sizeof space};
    ssize_t n = recvmsg(ends[0], &message, MSG_WAITALL); // RACE!
    if (n != 4 || head[0] != 'k' || body[2] != 'c' || message.msg_controllen != 0 || message.msg_flags != 0)
        abort();
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
