// Named: forks a process that waits for something before it executes a program
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0)
            execlp("true", "true", (char *)0);
        _exit(0);
    }
    waitpid(pid, 0, 0);
    pthread_join(other, 0);
    return 0;
}
