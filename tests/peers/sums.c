// A server without a script: requests that begin with `+` are added to a sum. Its test records it with real clients.
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void add(long number) {
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    sum += number; // RACE!
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
}

static void *serve(void *arg) {
    int fd = (int)(long)arg;
    char request[64];
    ssize_t len;
    while ((len = read(fd, request, sizeof request)) > 0) {
        if (request[0] == '+')
            add(len);
        if (write(fd, "ok\n", 3) != 3)
            break;
    }
    close(fd);
    return 0;
}

static int listen_at(const char *where) {
    if (where[0] == '/') {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        strncpy(address.sun_path, where, sizeof address.sun_path - 1);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        return bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8) ? -1 : fd;
    }
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(where))};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 8) ? -1 : fd;
}

int main(int argc, char **argv) {
    int listener = listen_at(argc > 1 ? argv[1] : "0");
    for (int fd; (fd = accept(listener, 0, 0)) >= 0;) {
        pthread_t thread;
        if (pthread_create(&thread, 0, serve, (void *)(long)fd))
            return 1;
        pthread_detach(thread);
    }
    return 1;
}
