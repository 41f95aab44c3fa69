// A server: races first, then waits for something that never comes. -DNAME says for what.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

static int shared;
static long used;

static void *work(void *arg) {
    shared++;
    return arg;
}

static inline int listening(void) {
    int socket_ = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    bind(socket_, (struct sockaddr *)&address, sizeof address);
    listen(socket_, 1);
    return socket_;
}

static void hang(void) {
#if defined PAUSE
    pause();
#elif defined SIGSUSPEND
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
#elif defined SIGWAIT
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &signal);
#elif defined SIGTIMEDWAIT
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigtimedwait(&set, NULL, NULL);
#elif defined SELECT
    select(0, NULL, NULL, NULL, NULL);
#elif defined POLL
    poll(NULL, 0, -1);
#elif defined EPOLL
    struct epoll_event event;
    epoll_wait(epoll_create1(0), &event, 1, -1);
#elif defined READ
    int ends[2];
    char byte;
    if (pipe(ends) == 0)
        used = read(ends[0], &byte, 1);
#elif defined WRITE
    static char bytes[1 << 20];
    int ends[2];
    if (pipe(ends) == 0)
        used = write(ends[1], bytes, sizeof bytes);
#elif defined ACCEPT
    accept(listening(), NULL, NULL);
#elif defined SELECT_SOCKET
    fd_set set;
    int socket = listening();
    FD_ZERO(&set);
    FD_SET(socket, &set);
    select(socket + 1, &set, NULL, NULL, NULL);
#elif defined EVENTFD
    uint64_t value;
    used = read(eventfd(0, 0), &value, sizeof value);
#elif defined TIMERFD
    uint64_t value;
    used = read(timerfd_create(CLOCK_MONOTONIC, 0), &value, sizeof value);
#elif defined SLEEP
    for (;;)
        sleep(1000);
#elif defined YIELD
    for (;;)
        sched_yield();
#elif defined SPIN
    for (volatile long i = 0;; i++)
        ;
#elif defined CONDITION
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&condition, &lock);
#elif defined SEMAPHORE
    static sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    sem_wait(&semaphore);
#elif defined FUTEX
    static int word;
    syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
#elif defined FLOCK
    int one = open("lock", O_CREAT | O_RDWR, 0600), other = open("lock", O_RDWR);
    flock(one, LOCK_EX);
    flock(other, LOCK_EX);
#elif defined FIFO
    mkfifo("fifo", 0600);
    used = open("fifo", O_RDONLY);
#elif defined QUEUE
    struct {
        long kind;
        char text[8];
    } message;
    msgrcv(msgget(IPC_PRIVATE, 0600), &message, sizeof message.text, 0, 0);
#elif defined CHILD
    if (fork() == 0)
        for (;;)
            pause();
    wait(NULL);
#elif defined COMMAND
    used = system("sleep 1000");
#elif defined FORK_BOMB
    for (;;)
        used = fork();
#else
#error for what?
#endif
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    shared++;
    pthread_join(thread, NULL);
    hang();
    return used != 0;
}
