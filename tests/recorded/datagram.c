// A datagram hands over what came before it was sent.
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
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    bind(socket_of_receiver, (struct sockaddr *)&address, len);
    getsockname(socket_of_receiver, (struct sockaddr *)&address, &len);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int sender = socket(AF_INET, SOCK_DGRAM, 0);
    pthread_create(&thread, NULL, receiver, NULL);
#ifndef RACY
    data = 1;
#endif
    sendto(sender, "x", 1, 0, (struct sockaddr *)&address, sizeof address);
#ifdef RACY
    data = 1; // RACE!
#endif
    pthread_join(thread, NULL);
    return 0;
}
