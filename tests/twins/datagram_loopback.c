// Two clients send to a server over the loopback network, which answers by their addresses. Racy: a client changes what it counts.
// Shows: the network: datagrams on this machine, with their boundaries and addresses
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int served;
static struct sockaddr_in server;

static void *ask(void *arg) {
    char answer[8];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    assert(connect(fd, (struct sockaddr *)&server, sizeof server) == 0);
    assert(send(fd, arg, 3, 0) == 3);
    assert(recv(fd, answer, sizeof answer, 0) == 2 && memcmp(answer, "ok", 2) == 0);
#ifdef RACY
    served--; // RACE!
#endif
    close(fd);
    return 0;
}

int main(void) {
    pthread_t threads[2];
    char question[8];
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t len = sizeof server;
    server.sin_family = AF_INET;
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(fd, (struct sockaddr *)&server, sizeof server) == 0);
    assert(getsockname(fd, (struct sockaddr *)&server, &len) == 0 && server.sin_port != 0);
    pthread_create(&threads[0], 0, ask, "one");
    pthread_create(&threads[1], 0, ask, "two");
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in client;
        len = sizeof client;
        assert(recvfrom(fd, question, sizeof question, 0, (struct sockaddr *)&client, &len) == 3);
        assert(len == sizeof client && client.sin_port != server.sin_port);
        served++; // RACE!
        assert(sendto(fd, "ok", 2, 0, (struct sockaddr *)&client, len) == 2);
    }
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return served != 2;
}
