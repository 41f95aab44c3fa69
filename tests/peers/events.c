// The main thread reads requests, a worker answers them. The server runs for ever: a run ends when its clients have.
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct job {
    int connection;
    char text[16];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct job jobs[8];
static int first, last;
static int served;

static void *work(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first == last)
            pthread_cond_wait(&filled, &lock);
        struct job job = jobs[first++ % 8];
#ifndef RACY
        served++;
#endif
        pthread_mutex_unlock(&lock);
        write(job.connection, job.text, strlen(job.text));
#ifdef RACY
        served++; // race
#endif
    }
    return unused;
}

static void submit(int connection, const char *text)
{
    pthread_mutex_lock(&lock);
    struct job *job = &jobs[last++ % 8];
    job->connection = connection;
    snprintf(job->text, sizeof job->text, "%s", text);
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
}

static void answer_count(int connection)
{
    char text[32];
#ifdef RACY
    int count = served; // race
#else
    pthread_mutex_lock(&lock);
    int count = served;
    pthread_mutex_unlock(&lock);
#endif
    snprintf(text, sizeof text, "%d", count >= 0);
    write(connection, text, strlen(text));
}

int main(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(7001)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 4);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(set, EPOLL_CTL_ADD, listener, &event);
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    for (;;) {
        struct epoll_event found[4];
        int count = epoll_wait(set, found, 4, 500);
        for (int i = 0; i < count; i++) {
            int fd = found[i].data.fd;
            if (fd == listener) {
                int connection = accept(listener, NULL, NULL);
                struct epoll_event wanted = {.events = EPOLLIN, .data.fd = connection};
                epoll_ctl(set, EPOLL_CTL_ADD, connection, &wanted);
                continue;
            }
            char text[16];
            ssize_t got = read(fd, text, sizeof text - 1);
            if (got <= 0) {
                epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
                close(fd);
                continue;
            }
            text[got] = 0;
            if (text[0] == '?')
                answer_count(fd);
            else
                submit(fd, text);
        }
    }
}
