// Shows: processes: what the child does to its variables changes none of the parent's; the parent's own threads may race.
#include "start.h"

static int x;

static void *write_it(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    pthread_t other = thread(write_it);
    pid_t pid = fork();
    if (pid == 0) {
        x = 7;
        execlp("true", "true", (char *)0);
        _exit(1);
    }
#ifdef RACY
    x = 2;
#endif
    assert(waitpid(pid, 0, 0) == pid);
    pthread_join(other, 0);
    assert(x == 1 || x == 2);
    return 0;
}
