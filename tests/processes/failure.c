// Shows: processes: a child that cannot execute its program tells why through a pipe.
#include "start.h"

static int start(const char *program) {
    int told[2], why = 0;
    assert(!pipe2(told, O_CLOEXEC));
    pid_t pid = fork();
    if (pid == 0) {
        char *env[] = {"A=bc", 0};
        execle(program, program, "-c", "test $A$1$2$3$4$5$6$7$8 = bc12345678", "x", "1", "2", "3", "4", "5", "6", "7", "8", (char *)0, env);
        why = errno;
        write(told[1], &why, sizeof why);
        _exit(127);
    }
    close(told[1]);
    long len = drain(told[0], (char *)&why, sizeof why);
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    assert(len ? status == 127 << 8 : status == 0);
    return why;
}

int main(void) {
    pthread_t other = thread(nothing);
    assert(start("/no/such/program") == ENOENT && start("/etc") == EACCES && start("/bin/sh") == 0);
    pthread_join(other, 0);
    return 0;
}
