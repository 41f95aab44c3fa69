// Shows: processes: SIGCHLD and its handler.
#include "start.h"

static volatile sig_atomic_t ended;

static void collect(int signal) {
    while (waitpid(-1, 0, WNOHANG) > 0)
        ended++;
}

int main(void) {
    signal(SIGCHLD, collect);
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &child, &before);
    pthread_t other = thread(nothing);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
    pthread_join(other, 0);
    assert(ended == 1 && waitpid(pid, 0, 0) == -1 && errno == ECHILD);
    return 0;
}
