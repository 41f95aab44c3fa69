// Two threads accept connections of the same listener. Each counts if it gets the message it wants: both do only if the
// one that was created later accepts first.
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int listener;
static int counted;

static void *server(void *wanted) {
    char byte = 0;
    int from = accept(listener, NULL, NULL);
    if (recv(from, &byte, 1, 0) == 1 && byte == *(char *)wanted)
        counted++; // RACE!
    return NULL;
}

static int send_byte(const struct sockaddr_in *address, const char *byte) {
    int to = socket(AF_INET, SOCK_STREAM, 0);
    return connect(to, (const struct sockaddr *)address, sizeof *address) == 0 && send(to, byte, 1, 0) == 1;
}

int main(void) {
    static char letters[2] = "ab";
    pthread_t one, two;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 2) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    pthread_create(&one, NULL, server, &letters[1]);
    pthread_create(&two, NULL, server, &letters[0]);
    for (int i = 0; i < 2; i++)
        if (!send_byte(&address, &letters[i]))
            return 1;
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
