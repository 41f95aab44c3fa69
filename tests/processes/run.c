// Shows: processes: `fork` with `exec`, pipes to and from the child, `waitpid`; the output is the same natively.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long value) { printf("%s: %ld\n", what, value); }

// Starts a program with these descriptors as its input and output.
static pid_t start(int in, int out, char **argv) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (in >= 0) { dup2(in, 0); close(in); }
        if (out >= 0) { dup2(out, 1); close(out); }
        setsid();
        signal(SIGPIPE, SIG_DFL);
        execvp(argv[0], argv);
        _exit(127);
    }
    return pid;
}

static int wait_for(pid_t pid) { int status = -1; return waitpid(pid, &status, 0) == pid ? status : -1; }

static void *filter(void *arg) {
    int in[2], out[2];
    assert(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
    pid_t pid = start(in[0], out[1], (char *[]){"tr", "a-z", "A-Z", 0});
    close(in[0]); close(out[1]);
    assert(write(in[1], "hello", 5) == 5);
    close(in[1]);
    char buffer[64] = "";
    ssize_t len = 0, got;
    while ((got = read(out[0], buffer + len, sizeof buffer - len)) > 0) len += got;
    close(out[0]);
    int status = wait_for(pid);
    assert(len == 5 && !memcmp(buffer, "HELLO", 5) && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return arg;
}

static void *statuses(void *arg) {
    int status = wait_for(start(-1, -1, (char *[]){"sh", "-c", "exit 3", 0}));
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    status = wait_for(start(-1, -1, (char *[]){"no-such-program", 0}));
    assert(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    status = wait_for(start(-1, -1, (char *[]){"sh", "-c", "kill -9 $$", 0}));
    assert(WIFSIGNALED(status) && WTERMSIG(status) == 9);
    return arg;
}

int main(void) {
    pthread_t t;
    say("nobody", waitpid(-1, 0, 0) == -1 && errno == ECHILD);
    pthread_create(&t, 0, filter, 0);
    statuses(0);
    pthread_join(t, 0);
    say("system", WEXITSTATUS(system("echo out; exit 4")));
    FILE *f = popen("echo one; echo two", "r");
    char line[32];
    while (fgets(line, sizeof line, f)) printf("read %s", line);
    say("pclose", pclose(f));
    f = popen("cat; exit 5", "w");
    fprintf(f, "to the command\n");
    fflush(stdout);
    say("pclose", WEXITSTATUS(pclose(f)));
    say("nobody", waitpid(-1, 0, WNOHANG) == -1 && errno == ECHILD);
    return 0;
}
