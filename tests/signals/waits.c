// Waits that a handler in the waiting thread ends or lets go on. Natively and in the first run the output is the same: each
// wait has begun when the signal comes.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAY(call) do { errno = 0; long result_ = (call); printf("%s: %ld, %s\n", #call, result_, result_ < 0 ? strerror(errno) : ""); } while (0)

static volatile sig_atomic_t count;
static pthread_t waiting;
static sem_t sem, go;
static int ends[2];

static void handler(int signal) {
    count++;
}

static void set(int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, 0);
}

static int counted(void) {
    int n = count;
    count = 0;
    return n;
}

static void *send(void *arg) {
    for (int i = 0; i < 7; i++) {
        sem_wait(&go);
        usleep(100000);
        pthread_kill(waiting, SIGUSR1);
        if (i == 1 || i == 4) {
            usleep(100000);
            if (i == 1)
                sem_post(&sem);
            else
                write(ends[1], "x", 1);
        }
    }
    return arg;
}

int main(void) {
    pthread_t thread;
    char byte;
    struct pollfd one = {.events = POLLIN};
    waiting = pthread_self();
    sem_init(&sem, 0, 0);
    sem_init(&go, 0, 0);
    pipe(ends);
    one.fd = ends[0];
    set(0);
    pthread_create(&thread, 0, send, 0);
    sem_post(&go);
    SAY(sem_wait(&sem));
    SAY(counted());
    set(SA_RESTART);
    sem_post(&go);
    SAY(sem_wait(&sem));
    SAY(counted());
    sem_post(&go);
    SAY(poll(&one, 1, -1));
    SAY(counted());
    set(0);
    sem_post(&go);
    SAY(read(ends[0], &byte, 1));
    SAY(counted());
    set(SA_RESTART);
    sem_post(&go);
    SAY(read(ends[0], &byte, 1));
    SAY(counted());
    sem_post(&go);
    SAY(pause());
    SAY(counted());
    sem_post(&go);
    SAY(pthread_join(thread, 0));
    SAY(counted());
    return 0;
}
