// Shows: processes: a child that waits for room in a pipe has not ended. Wrong: its parent waits for it before it reads.
#include "start.h"

int main(void) {
    pthread_t other = thread(nothing);
    int out[2];
    assert(!pipe2(out, O_CLOEXEC));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(out[1], 1);
        execlp("head", "head", "-c", "65537", "/dev/zero", (char *)0);
        _exit(1);
    }
    close(out[1]);
    static char buffer[1 << 17];
#ifdef WRONG
    assert(waitpid(pid, 0, 0) == pid);
    assert(drain(out[0], buffer, sizeof buffer) == 65537);
#else
    assert(drain(out[0], buffer, sizeof buffer) == 65537);
    assert(waitpid(pid, 0, 0) == pid);
#endif
    pthread_join(other, 0);
    return 0;
}
