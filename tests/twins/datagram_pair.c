// A pair of sockets for datagrams hands over work. Racy: what is handed over is changed afterwards.
// Shows: the network: pairs of sockets for datagrams: messages are cut, looked at, and may be empty
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2], work;

static void *take(void *arg) {
    char bytes[4];
    struct iovec part = {bytes, 2};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    assert(recv(ends[1], bytes, 4, MSG_PEEK) == 4);
    assert(recvmsg(ends[1], &message, 0) == 2 && message.msg_flags == MSG_TRUNC && memcmp(bytes, "ab", 2) == 0);
    assert(recv(ends[1], bytes, 4, 0) == 0);
    assert(recv(ends[1], bytes, 1, MSG_TRUNC) == 3 && bytes[0] == 'e');
    assert(recv(ends[1], bytes, 4, MSG_DONTWAIT) == -1);
    return work == 1 ? arg : 0; // RACE!
}

int main(void) {
    pthread_t thread;
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    pthread_create(&thread, 0, take, 0);
    work = 1;
    assert(write(ends[0], "abcd", 4) == 4);
    assert(send(ends[0], "", 0, 0) == 0);
    assert(send(ends[0], "efg", 3, 0) == 3);
#ifdef RACY
    work = 2; // RACE!
#endif
    pthread_join(thread, 0);
    close(ends[1]);
    assert(send(ends[0], "x", 1, MSG_NOSIGNAL) == -1);
    return 0;
}
