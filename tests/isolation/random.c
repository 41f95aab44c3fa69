// Two threads call functions that change the process, chosen by the seed in the first argument. What each call says is
// printed: it depends on the calls before it and on nothing else.
#define _GNU_SOURCE
#ifndef NATIVE
#include "rp.h"
#endif
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *names[] = {"random-a", "random-b", "random-c"};
static int files[6], ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static uint32_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static long size_of(int fd) {
    struct stat s;
    return fstat(fd, &s) ? -errno : (long)s.st_size * 8192 + (s.st_mode & 0777);
}

static long call(uint64_t *state) {
    int fd = files[next(state) % 6];
    const char *name = names[next(state) % 3], *other = names[next(state) % 3];
    char text[32] = {0};
    struct stat s;
    struct rlimit limit;
    switch (next(state) % 36) {
    case 0: return umask(next(state) & 0777);
    case 1: return chdir(next(state) % 2 ? "/" : "/tmp");
    case 2: return getcwd(text, sizeof text) ? text[1] : -errno;
    case 3: return files[next(state) % 6] = open(name, O_CREAT | O_RDWR, 0666);
    case 4: return files[next(state) % 6] = open(name, O_RDWR | O_TRUNC);
    case 5: return close(fd);
    case 6: return unlink(name);
    case 7: return rename(name, other);
    case 8: return write(fd, "some text", next(state) % 9);
    case 9: return pwrite(fd, "z", 1, next(state) % 16);
    case 10: return read(fd, text, 5) + text[0];
    case 11: return pread(fd, text, 5, 2) + text[0];
    case 12: return lseek(fd, next(state) % 8, SEEK_SET);
    case 13: return lseek(fd, 0, SEEK_CUR);
    case 14: return ftruncate(fd, next(state) % 20);
    case 15: return size_of(fd);
    case 16: return stat(name, &s) ? -errno : s.st_size;
    case 17: return access(name, F_OK);
    case 18: return fchmod(fd, 0600 + next(state) % 64);
    case 19: return fcntl(fd, F_SETFL, next(state) % 2 ? O_APPEND : 0);
    case 20: return fcntl(fd, F_GETFL) & O_APPEND;
    case 21: return fcntl(fd, F_SETFD, next(state) % 2);
    case 22: return fcntl(fd, F_GETFD);
    case 23: return files[next(state) % 6] = dup(fd);
    case 24: return dup2(fd, files[next(state) % 6]);
    case 25: return getrlimit(RLIMIT_CORE, &limit) ? -errno : (long)limit.rlim_cur;
    case 26: getrlimit(RLIMIT_CORE, &limit); limit.rlim_cur = next(state) % 1000; return setrlimit(RLIMIT_CORE, &limit);
    case 27: return getpriority(PRIO_PROCESS, 0);
    case 28: return setpriority(PRIO_PROCESS, 0, next(state) % 5);
    case 29: return setenv("RANDOM", next(state) % 2 ? "one" : "two", 1);
    case 30: return getenv("RANDOM") ? getenv("RANDOM")[0] : 0;
    case 31: return truncate(name, next(state) % 9);
    case 32: return fcntl(ends[next(state) % 2], F_SETFL, O_NONBLOCK);
    case 33: return files[next(state) % 6] = memfd_create("m", 0);
    case 34: return rand() % 1000;
    default: return signal(SIGUSR1, next(state) % 2 ? SIG_IGN : SIG_DFL) == SIG_IGN;
    }
}

static void *run(void *arg) {
    uint64_t state = (uint64_t)(uintptr_t)arg;
    char line[64];
    for (int i = 0; i < 8; i++) {
        pthread_mutex_lock(&mutex);
        errno = 0;
        long said = call(&state);
        int len = snprintf(line, sizeof line, "%d %ld %d\n", i, said, said < 0 ? errno : 0);
        if (write(1, line, len) != len)
            abort();
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], 0, 10) : 0;
    for (int i = 0; i < 6; i++)
        files[i] = i % 2 ? memfd_create("first", 0) : open(names[i % 3], O_CREAT | O_RDWR, 0644);
    if (pipe(ends))
        return 1;
    uint64_t before = seed * 77 + 5;
    for (int i = 0; i < 4; i++)
        call(&before);
    pthread_t a, b;
    pthread_create(&a, 0, run, (void *)(uintptr_t)(seed * 2 + 1));
    pthread_create(&b, 0, run, (void *)(uintptr_t)(seed * 2 + 2));
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
