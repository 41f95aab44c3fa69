// The child of `fork` goes on as the program.
// Shows: processes: a child of `fork` that goes on as the program
#include <sys/wait.h>
#include <unistd.h>

static int value;

int main(void) {
    pid_t child = fork(); // REFUSED forks without `exec`
    if (child == 0) {
        value = 1;
        _exit(value);
    }
    waitpid(child, NULL, 0);
    return value;
}
