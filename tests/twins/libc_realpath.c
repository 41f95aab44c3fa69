// realpath returns the buffer that it was given, or a new one.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

static char path[PATH_MAX];
static char *name;

static void *worker(void *arg) {
    path[0] = 'x'; // RACE!
    return arg;
}

int main(void) {
    pthread_t thread;
#ifdef RACY
    name = realpath("/", path);
#else
    name = realpath("/", NULL);
#endif
    if (!name)
        return 1;
    pthread_create(&thread, NULL, worker, NULL);
    name[0] = 'y'; // RACE!
    pthread_join(thread, NULL);
    return 0;
}
