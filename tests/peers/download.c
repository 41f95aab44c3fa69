// Shows: peers: a downloader that fetches parts of a file from a server of a script, over two connections at once
// options: --peer=download.toml
// Each thread asks for a part and stores it; the number of bytes that came is shared.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char file[9];
static int arrived;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *fetch(void *argument)
{
    int part = (int)(long)argument;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    inet_pton(AF_INET, "203.0.113.7", &address.sin_addr);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) {
        perror("connect");
        return NULL;
    }
    char request[32];
    snprintf(request, sizeof request, "GET part %d\n", part);
    write(connection, request, strlen(request));
    int got = 0;
    while (got < 4) {
        ssize_t more = read(connection, file + 4 * part + got, 4 - got);
        if (more <= 0)
            break;
        got += more;
    }
#ifdef RACY
    arrived += got; // race
#else
    pthread_mutex_lock(&lock);
    arrived += got;
    pthread_mutex_unlock(&lock);
#endif
    close(connection);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, fetch, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %s\n", arrived, file);
    return 0;
}
