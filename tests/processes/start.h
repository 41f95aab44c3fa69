// What the programs about child processes have in common.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *nothing(void *arg) {
    return arg;
}

// Starts another thread, which has to be joined.
static inline pthread_t thread(void *(*run)(void *)) {
    pthread_t made;
    pthread_create(&made, 0, run, 0);
    return made;
}

// Reads everything up to the end and closes the descriptor.
static inline long drain(int fd, char *to, long room) {
    long len = 0, got;
    while (len < room && (got = read(fd, to + len, room - len)) > 0)
        len += got;
    close(fd);
    return len;
}
