// Shows: peers: a server whose reply gets lost in some schedules leaves its client waiting
// options: --peer=lost.toml
// The flag is looked at outside the lock, so the wake-up may come before the wait: the client never gets its answer.
#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static _Atomic int requested;
static int connection;

static void *answer(void *unused)
{
#ifdef RACY
    if (!requested) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&ready, &lock);
        pthread_mutex_unlock(&lock);
    }
#else
    pthread_mutex_lock(&lock);
    while (!requested)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
#endif
    write(connection, "!", 1);
    return unused;
}

int main(void)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/raceproof-lost"};
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 1);
    connection = accept(listener, NULL, NULL);
    pthread_t worker;
    pthread_create(&worker, NULL, answer, NULL);
    char byte;
    read(connection, &byte, 1);
#ifdef RACY
    requested = 1;
    pthread_cond_signal(&ready);
#else
    pthread_mutex_lock(&lock);
    requested = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(worker, NULL);
    return 0;
}
