// A datagram over a connected socket, to one that listens on all addresses.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int data;
static int socket_of_receiver;

static void *receiver(void *unused) {
    char got;
    recv(socket_of_receiver, &got, 1, 0);
    data += 1; // RACE!
    return unused;
}

int main(void) {
    pthread_t thread;
    socket_of_receiver = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t len = sizeof address;
    bind(socket_of_receiver, (struct sockaddr *)&address, len);
    getsockname(socket_of_receiver, (struct sockaddr *)&address, &len);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    connect(sender, (struct sockaddr *)&address, len);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    send(sender, "x", 1, 0);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
