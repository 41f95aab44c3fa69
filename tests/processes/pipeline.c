// Shows: processes: two children, one reads what the other writes; the second gets a file that it opens between `fork` and `exec`.
#include "start.h"

static pid_t start(int in, int out, const char *command, const int all[4]) {
    pid_t pid = fork();
    if (pid == 0) {
        if (in < 0)
            in = open("/dev/null", O_RDONLY);
        dup2(in, 0);
        dup2(out, 1);
        for (int i = 0; i < 4; i++)
            close(all[i]);
        execl("/bin/sh", "sh", "-c", command, (char *)0);
        _exit(1);
    }
    return pid;
}

int main(void) {
    pthread_t other = thread(nothing);
    int all[4];
    char buffer[64];
    assert(!pipe(all) && !pipe(all + 2));
    pid_t second = start(all[0], all[3], "sort; exit 2", all);
    pid_t first = start(-1, all[1], "echo b; echo a; exit 1", all);
    close(all[0]);
    close(all[1]);
    close(all[3]);
    assert(drain(all[2], buffer, sizeof buffer) == 4 && !memcmp(buffer, "a\nb\n", 4));
    int status;
    assert(waitpid(second, &status, 0) == second && WEXITSTATUS(status) == 2);
    assert(waitpid(first, &status, 0) == first && WEXITSTATUS(status) == 1);
    pthread_join(other, 0);
    return 0;
}
