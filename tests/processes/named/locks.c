// Named: forks a process that uses locks
#include "../start.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *arg) {
    pthread_mutex_lock(&lock);
    usleep(1);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t other = thread(hold);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_mutex_lock(&lock);
        execlp("true", "true", (char *)0);
        _exit(1);
    }
    waitpid(pid, 0, 0);
    pthread_join(other, 0);
    return 0;
}
