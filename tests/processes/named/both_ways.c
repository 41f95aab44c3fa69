// Named: waits for a child process that waits for more input
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    int in[2], out[2];
    char buffer[8];
    assert(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
    pid_t pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execlp("cat", "cat", (char *)0);
        _exit(1);
    }
    close(in[0]);
    close(out[1]);
    assert(write(in[1], "x\n", 2) == 2);
    assert(read(out[0], buffer, sizeof buffer) == 2);
    close(in[1]);
    waitpid(pid, 0, 0);
    pthread_join(other, 0);
    return 0;
}
