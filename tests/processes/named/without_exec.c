// Named: forks without `exec`
#include "../start.h"

int main(void) {
    pthread_t other = thread(nothing);
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    int status;
    assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
    pthread_join(other, 0);
    return 0;
}
