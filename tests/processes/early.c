// Shows: processes: `waitpid` with WNOHANG. Wrong: the child is taken to have ended at once.
#include "start.h"

int main(void) {
    pthread_t other = thread(nothing);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/true", "true", (char *)0);
        _exit(1);
    }
    int status, tries = 0;
    pid_t got;
    while ((got = waitpid(pid, &status, WNOHANG)) == 0)
        tries++;
    assert(got == pid && status == 0);
#ifdef WRONG
    assert(tries == 0);
#endif
    pthread_join(other, 0);
    return 0;
}
