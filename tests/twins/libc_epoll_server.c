// A server of one thread: a listener and its connections in one interest list, clients in threads of their own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;
static int served;

static void *client(void *arg) {
    char answer = 0;
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(to, (struct sockaddr *)&address, sizeof address) || send(to, "q", 1, 0) != 1 ||
        recv(to, &answer, 1, 0) != 1 || answer != 'q')
        abort();
    close(to);
    return arg;
}

static void watch(int loop, int fd) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};
    if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event))
        abort();
}

static void *server(void *arg) {
    int listener = *(int *)arg, loop = epoll_create1(0), left = 1;
    struct epoll_event events[2];
    watch(loop, listener);
    while (left > 0) {
        int count = epoll_wait(loop, events, 2, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            char byte;
            if (fd == listener) {
                watch(loop, accept(listener, NULL, NULL));
            } else if (recv(fd, &byte, 1, 0) == 1) {
                served++; // RACE!
                if (send(fd, &byte, 1, 0) != 1)
                    abort();
            } else {
                if (!(events[i].events & EPOLLRDHUP))
                    abort();
                close(fd);
                left--;
            }
        }
    }
    close(loop);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 2) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    pthread_create(&one, NULL, server, &listener);
    pthread_create(&two, NULL, client, NULL);
#ifdef RACY
    served--; // RACE!
#endif
    pthread_join(two, NULL);
    pthread_join(one, NULL);
    return 0;
}
