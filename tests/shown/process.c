// Both threads change what the process has once: the calls are tried in both orders, and each run begins as the first did.
// Shows: the process: the working folder, the file mask, limits, flags of descriptors: each run begins with what the program was started with, and calls that share such a thing are tried in every order
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int file;

static void *change(void *arg) {
    struct rlimit limit;
    umask(arg == NULL ? 077 : 027);
    if (fcntl(file, F_SETFL, arg == NULL ? O_APPEND : 0) != 0)
        abort();
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || chdir("/") != 0)
        abort();
    return arg;
}

int main(void) {
    pthread_t thread;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 8)
        abort();
    file = open("/dev/null", O_WRONLY);
    if (fcntl(file, F_GETFL) & O_APPEND)
        abort();
    pthread_create(&thread, NULL, change, &limit);
    limit.rlim_cur = 7;
    setrlimit(RLIMIT_NOFILE, &limit);
    change(NULL);
    pthread_join(thread, NULL);
    mode_t mask = umask(0);
    return mask == 077 || mask == 027 ? 0 : 1;
}
