// What is done about signals that the program sends itself. The output is the same natively.
// Shows: signals: handlers of signals that the program sends itself (`raise`, `kill`)
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SAY(call) do { errno = 0; long result_ = (call); printf("%s: %ld, %s\n", #call, result_, result_ < 0 ? strerror(errno) : ""); } while (0)

static volatile sig_atomic_t count, depth, deepest, told;

static void counting(int signal) {
    count++;
    depth++;
    if (depth > deepest)
        deepest = depth;
    if (signal == SIGUSR2 && count < 5)
        raise(SIGUSR2);
    if (signal == SIGHUP)
        raise(SIGUSR1);
    depth--;
}

static void telling(int signal, siginfo_t *info, void *context) {
    told = info->si_signo == signal ? signal : -1;
}

static int set(int signal, void (*handler)(int), int flags, int also) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (also)
        sigaddset(&action.sa_mask, also);
    return sigaction(signal, &action, 0);
}

static int is_set(int signal, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0xff, sizeof action);
    return sigaction(signal, 0, &action) ? -1 : action.sa_handler == handler;
}

static int block(int how, int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return pthread_sigmask(how, &set, 0);
}

static int is_pending(int signal) {
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

static int counted(void) {
    int n = count;
    count = deepest = 0;
    return n;
}

static void *waits(void *arg) {
    sigset_t set;
    int signal = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    SAY(sigwait(&set, &signal));
    SAY(signal);
    return arg;
}

int main(void) {
    SAY(is_set(SIGUSR1, SIG_DFL));
    SAY(signal(SIGUSR1, counting) == SIG_DFL);
    SAY(is_set(SIGUSR1, counting));
    SAY(raise(SIGUSR1));
    SAY(counted());
    SAY(kill(getpid(), SIGUSR1));
    SAY(counted());
    SAY(pthread_kill(pthread_self(), SIGUSR1));
    SAY(counted());
    SAY(kill(getpid(), 0));
    SAY(raise(65));
    SAY(signal(SIGKILL, SIG_IGN) == SIG_ERR);
    SAY(set(SIGSTOP, SIG_IGN, 0, 0));
    SAY(signal(SIGUSR1, SIG_IGN) == counting);
    SAY(raise(SIGUSR1));
    SAY(counted());
    SAY(raise(SIGCHLD));
    SAY(raise(SIGWINCH));

    SAY(set(SIGUSR1, counting, SA_RESETHAND, 0));
    SAY(raise(SIGUSR1));
    SAY(is_set(SIGUSR1, SIG_DFL));
    SAY(counted());
    SAY(set(SIGUSR2, counting, SA_NODEFER, 0));
    SAY(raise(SIGUSR2));
    SAY(deepest);
    SAY(counted());
    SAY(set(SIGUSR2, counting, 0, 0));
    SAY(raise(SIGUSR2));
    SAY(deepest);
    SAY(counted());
    SAY(set(SIGUSR1, counting, 0, 0));
    SAY(set(SIGHUP, counting, 0, 0));
    SAY(raise(SIGHUP));
    SAY(deepest);
    SAY(counted());
    SAY(set(SIGHUP, counting, 0, SIGUSR1));
    SAY(raise(SIGHUP));
    SAY(deepest);
    SAY(counted());

    struct sigaction with = {.sa_sigaction = telling, .sa_flags = SA_SIGINFO};
    SAY(sigaction(SIGINT, &with, 0));
    SAY(raise(SIGINT));
    SAY(told);

    SAY(block(SIG_BLOCK, SIGUSR1));
    SAY(raise(SIGUSR1));
    SAY(raise(SIGUSR1));
    SAY(counted());
    SAY(is_pending(SIGUSR1));
    SAY(block(SIG_UNBLOCK, SIGUSR1));
    SAY(counted());
    SAY(is_pending(SIGUSR1));
    SAY(block(SIG_BLOCK, SIGUSR1));
    SAY(raise(SIGUSR1));
    sigset_t none;
    sigemptyset(&none);
    SAY(sigsuspend(&none));
    SAY(counted());
    SAY(is_pending(SIGUSR1));
    SAY(block(SIG_UNBLOCK, SIGUSR1));

    int ends[2];
    SAY(pipe(ends));
    SAY(close(ends[0]));
    SAY(set(SIGPIPE, counting, 0, 0));
    SAY(write(ends[1], "x", 1));
    SAY(counted());
    SAY(signal(SIGPIPE, SIG_IGN) == counting);
    SAY(write(ends[1], "x", 1));

    SAY(block(SIG_BLOCK, SIGTERM));
    SAY(kill(getpid(), SIGTERM));
    pthread_t thread;
    pthread_create(&thread, 0, waits, 0);
    pthread_join(thread, 0);
    SAY(is_pending(SIGTERM));
    fflush(stdout);
    signal(SIGTERM, SIG_DFL);
    block(SIG_UNBLOCK, SIGTERM);
    return raise(SIGTERM);
}
