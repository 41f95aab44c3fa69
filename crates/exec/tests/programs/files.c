// Input, output and descriptors, before and after the first thread.
#include "rp.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *rest(void *arg) {
    char line[64];
    while (AT(fgets(line, sizeof line, stdin)))
        AT(printf("rest: %s", line));
    AT(write(2, "note\n", 5));
    return arg;
}

int main(void) {
    char line[64];
    pthread_t thread;
    AT(fgets(line, sizeof line, stdin));
    AT(printf("first: %s", line));
    AT(fflush(stdout));
    AT(printf("kept "));
    AT(pthread_create(&thread, 0, rest, 0));
    AT(pthread_join(thread, 0));
    return 0;
}
