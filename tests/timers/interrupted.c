// An alarm while a thread reads from a pipe: the call is interrupted, or goes on. Wrong: the other one of the two is expected.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int ends[2];
static volatile sig_atomic_t came;

static void handler(int signal) {
    came = signal;
}

static void *work(void *arg) {
    assert(write(ends[1], "x", 1) == 1);
    return arg;
}

int main(void) {
    pthread_t thread;
    sigset_t set, old;
    char byte;
    struct sigaction action = {.sa_handler = handler, .sa_flags = FLAGS};
    sigaction(SIGALRM, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    assert(pipe(ends) == 0);
    pthread_create(&thread, 0, work, 0);
    pthread_sigmask(SIG_SETMASK, &old, 0);
    alarm(1);
    ssize_t moved = read(ends[0], &byte, 1);
    int error = errno;
    alarm(0);
    assert(moved == 1 || error == EINTR && came);
#ifdef WRONG
    assert(moved == 1);
#endif
    pthread_join(thread, 0);
    return 0;
}
