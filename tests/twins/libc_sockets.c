// Data handed over through a connection of the loopback network: the reader waits for the writer.
// Shows: waiting: `accept`, `connect`, `recv`, `send` on streams between threads of the program
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static struct sockaddr_in address;
static char inbox[4];

static void *client(void *arg) {
    char message[4] = "abc"; // NORACE
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(to, (struct sockaddr *)&address, sizeof address)) // NORACE
        return NULL;
    void *sent = send(to, message, 4, 0) == 4 ? arg : NULL; // NORACE
    close(to);
    return sent;
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
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1))
        return 1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) || address.sin_port == 0)
        return 1;
    pthread_create(&one, NULL, client, NULL);
    pthread_create(&two, NULL, peeker, NULL);
    int from = accept(listener, NULL, NULL);
    ssize_t n = recv(from, inbox, 4, 0); // RACE!
    char more;
    ssize_t end = recv(from, &more, 1, 0);
    close(from);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return n != 4 || end != 0 || memcmp(inbox, "abc", 4) != 0;
}
