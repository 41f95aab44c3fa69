// Named: changes files or attributes of a child process before `exec`
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    pid_t pid = fork();
    if (pid == 0) {
        nice(1);
        execlp("true", "true", (char *)0);
        _exit(1);
    }
    waitpid(pid, 0, 0);
    pthread_join(other, 0);
    return 0;
}
