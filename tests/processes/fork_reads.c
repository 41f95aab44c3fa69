// Shows: processes: a forked process reads variables as they were at the `fork`. Wrong: that is compared with one order only.
#include "start.h"

static int chosen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *choose(void *arg) {
    pthread_mutex_lock(&lock);
    chosen = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t other = thread(choose);
#ifndef RACY
    pthread_mutex_lock(&lock);
#endif
    pid_t pid = fork();
    if (pid == 0) {
        if (chosen)
            execl("/bin/false", "false", (char *)0);
        execl("/bin/true", "true", (char *)0);
        _exit(2);
    }
#ifndef RACY
    pthread_mutex_unlock(&lock);
#endif
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    pthread_join(other, 0);
#ifdef WRONG
    assert(status == 0);
#else
    assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
#endif
    return 0;
}
