// Shows: processes: `posix_spawn` with file actions, in two threads.
#include "start.h"

static void *run(void *arg) {
    int out[2];
    assert(!pipe(out));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addchdir_np(&actions, "/");
    char *argv[] = {"sh", "-c", "pwd; cat; exit 6", 0};
    pid_t pid;
    assert(!posix_spawnp(&pid, "sh", &actions, 0, argv, environ));
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    char buffer[64];
    assert(drain(out[0], buffer, sizeof buffer) == 2 && !memcmp(buffer, "/\n", 2));
    int status;
    assert(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 6);
    assert(posix_spawn(&pid, "/no/such/program", 0, 0, argv, environ) == ENOENT);
    return arg;
}

int main(void) {
    pthread_t other = thread(run);
    run(0);
    pthread_join(other, 0);
    return 0;
}
