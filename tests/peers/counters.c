// Shows: peers: a server that serves each client of a script in a thread
// options: --peer=counters.toml
// Two clients of a script each add to a counter by its name; a thread for each connection keeps the sums.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static int answered;

static void add(int value)
{
#ifdef RACY
    sum += value; // race
#else
    pthread_mutex_lock(&lock);
    sum += value;
    pthread_mutex_unlock(&lock);
#endif
    pthread_mutex_lock(&lock);
    answered++;
    pthread_mutex_unlock(&lock);
}

static void *serve(void *argument)
{
    int connection = (int)(long)argument;
    char request[32];
    size_t length = 0;
    while (length + 1 < sizeof request) {
        ssize_t got = read(connection, request + length, sizeof request - 1 - length);
        if (got <= 0)
            break;
        length += got;
        if (request[length - 1] == '\n')
            break;
    }
    request[length] = 0;
    int value;
    if (sscanf(request, "ADD %d", &value) == 1) {
        add(value);
        write(connection, "OK\n", 3);
    } else {
        write(connection, "ERROR\n", 6);
    }
    close(connection);
    return NULL;
}

int main(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7000)};
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 8) != 0)
        return 1;
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            return 1;
        pthread_create(&threads[i], NULL, serve, (void *)(long)connection);
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    printf("sum %d of %d\n", sum, answered);
    return 0;
}
