// Named: sends the process a signal that another thread handles
#include "../start.h"

static volatile sig_atomic_t ended;

static void collect(int signal) {
    while (waitpid(-1, 0, WNOHANG) > 0)
        ended++;
}

int main(void) {
    signal(SIGCHLD, collect);
    pthread_t other = thread(nothing);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, 0);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    pthread_sigmask(SIG_UNBLOCK, &child, 0);
    pthread_join(other, 0);
    assert(ended == 1);
    return 0;
}
