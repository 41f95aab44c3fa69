// Senders in the Unix domain wait while the receiver has eleven messages. Racy: a variable is read once the last one is sent.
// Shows: the network: a sender that waits for room
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MESSAGES = 12 };
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static socklen_t name_len;
static int received, last;

static void send_one(int fd, int i, int flags) {
    assert(sendto(fd, &i, sizeof i, flags, (struct sockaddr *)&name, name_len) == sizeof i);
}

static void *send_last(void *arg) {
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    send_one(fd, MESSAGES - 1, 0);
#ifdef RACY
    last = received; // RACE!
#endif
    close(fd);
    return arg;
}

int main(void) {
    pthread_t thread;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), value;
    memcpy(name.sun_path, "\0raceproof-full", 15);
    name_len = (socklen_t)(sizeof(sa_family_t) + 15);
    assert(bind(fd, (struct sockaddr *)&name, name_len) == 0);
    int sender = socket(AF_UNIX, SOCK_DGRAM, 0);
    for (int i = 0; i < MESSAGES - 1; i++)
        send_one(sender, i, MSG_DONTWAIT);
    assert(sendto(sender, "", 0, MSG_DONTWAIT, (struct sockaddr *)&name, name_len) == -1 && errno == EAGAIN);
    pthread_create(&thread, 0, send_last, 0);
    for (int i = 0; i < MESSAGES; i++) {
        assert(recv(fd, &value, sizeof value, 0) == sizeof value && value == i);
        received++; // RACE!
    }
    pthread_join(thread, 0);
    return last > MESSAGES;
}
